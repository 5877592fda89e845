import { AgentRlError } from '../../core/errors.ts';
import type { AssistantMessage } from '../../core/message.ts';
import {
  type BareCall,
  type SampledTurn,
  toolCallFormat,
  type ToolCallFormat,
} from '../../core/plugins/tool-call-format.ts';
import { splitThoughts, TurnReading } from './read-turn.ts';

/** The whole text is content: no calls are parsed. */
@toolCallFormat({
  name: 'plain',
  description: 'No calls: all text outside thoughts is content.',
})
export class PlainFormat implements ToolCallFormat {
  readonly opensCall = [];

  read({ text, turn, inThought }: SampledTurn): AssistantMessage {
    const { spoken, thoughts } = splitThoughts(text, inThought);
    const reading = new TurnReading(turn, thoughts);
    reading.say(spoken);
    return reading.message();
  }

  /** @throws AgentRlError `CONFIG_INVALID`, always. */
  print({ name }: BareCall): string {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `A call of ${name} cannot be written, because policy.toolCallFormat is plain. Choose another format, or remove the calls from the conversations.`,
    );
  }

  /** Never: a template without calls may belong to a model that still writes them. */
  fits(): boolean {
    return false;
  }
}
