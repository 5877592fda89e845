import { AgentRlError } from '../../core/errors.ts';
import type { AssistantMessage } from '../../core/message.ts';
import {
  type BareCall,
  type SampledTurn,
  type TemplateSample,
  toolCallFormat,
  type ToolCallFormat,
} from '../../core/plugins/tool-call-format.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import {
  codeCall,
  codeOf,
  codeTarget,
  type CodeTargetSettings,
  codeTargetSettings,
} from './code-target.ts';
import { fence, pythonBlocks } from './python-blocks.ts';
import { splitThoughts, type Stretch, TurnReading } from './read-turn.ts';

/**
 * For models that answer in code: each block fenced as Python is a call of the one tool that takes code. The rest of
 * the text, including blocks of other languages, is content. Fences follow CommonMark, except that a fence opens a
 * block at any indentation and inside an HTML comment, but not in a block quote.
 */
@toolCallFormat({
  name: 'python-block',
  description:
    'Each block of code between ```python and ``` is a call of the tool that takes code.',
  settings: codeTargetSettings,
})
export class PythonBlockFormat implements ToolCallFormat {
  readonly opensCall = [fence, '~~~'];

  constructor(private readonly given: { settings: CodeTargetSettings }) {}

  read({ text, turn, inThought, tools }: SampledTurn): AssistantMessage {
    const { spoken, thoughts } = splitThoughts(text, inThought, closedBlock);
    const reading = new TurnReading(turn, thoughts);
    const target = codeTarget(tools, this.given.settings);
    let from = 0;
    for (const block of pythonBlocks(spoken)) {
      reading.say(spoken.slice(from, block.start));
      from = block.end;
      const written = spoken.slice(block.start, block.end);
      if (block.code === undefined)
        reading.call(
          written,
          `The block is not closed: end it with ${block.mark} on a line of its own.`,
        );
      else if (typeof target === 'string') reading.call(written, `No code can be run: ${target}.`);
      else reading.call(written, codeCall(target, block.code));
    }
    reading.say(spoken.slice(from));
    return reading.message();
  }

  /** @throws AgentRlError `CONFIG_INVALID` for a call of another tool than the one that takes code. */
  print(call: BareCall, tools: readonly ToolSpec[]): string {
    const target = codeTarget(tools, this.given.settings);
    const code = typeof target === 'string' ? undefined : codeOf(call, target);
    if (code !== undefined) {
      const runs = code.match(/`{3,}/g) ?? [];
      const mark = runs.reduce((longest, run) => (run < longest ? longest : `${run}\``), fence);
      return `${mark}python\n${code}\n${mark}`;
    }
    const why =
      typeof target === 'string' ? target : `code goes to ${target.tool}.${target.argument}`;
    throw new AgentRlError(
      'CONFIG_INVALID',
      `A call of ${call.name} cannot be written as a block of Python: ${why}. Remove it from the conversations, or choose another policy.toolCallFormat.`,
    );
  }

  fits({ source }: TemplateSample): boolean {
    return source.includes(`${fence}python`);
  }

  problemWith(tools: readonly ToolSpec[]): string | undefined {
    const target = codeTarget(tools, this.given.settings);
    return typeof target === 'string' ? target : undefined;
  }
}

/** The next closed block of Python; a mark of a thought in its code is the code's text. */
const closedBlock = (text: string, from: number): Stretch | undefined =>
  pythonBlocks(text).find(({ start, code }) => start >= from && code !== undefined);
