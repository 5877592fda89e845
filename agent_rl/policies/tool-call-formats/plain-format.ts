import { AgentRlError } from '../../core/errors.ts';
import type { AssistantMessage } from '../../core/message.ts';
import {
  type BareCall,
  type SampledTurn,
  toolCallFormat,
  type ToolCallFormat,
} from '../../core/plugins/tool-call-format.ts';
import { splitThoughts, TurnReading } from './read-turn.ts';

/** Whatever is said is said: nothing is a call. */
@toolCallFormat({
  name: 'plain',
  description: 'No calls: everything outside thoughts is what the model says.',
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
      `A call of ${name} cannot be written: policy.toolCallFormat is plain. Choose another format, or take the calls out of the conversations.`,
    );
  }

  /** Never: a template that shows no calls may belong to a model that writes them all the same. */
  fits(): boolean {
    return false;
  }
}
