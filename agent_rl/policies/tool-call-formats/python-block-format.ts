import { inject } from 'inversify';

import { AgentRlError } from '../../core/errors.ts';
import type { AssistantMessage } from '../../core/message.ts';
import {
  type BareCall,
  type SampledTurn,
  type TemplateSample,
  toolCallFormat,
  type ToolCallFormat,
} from '../../core/plugins/tool-call-format.ts';
import { SETTINGS, type ToolSpec } from '../../core/plugins/tool.ts';
import {
  codeCall,
  codeOf,
  codeTarget,
  type CodeTargetSettings,
  codeTargetSettings,
} from './code-target.ts';
import { splitThoughts, type Stretch, TurnReading } from './read-turn.ts';

const fence = '```';

/**
 * For models that answer in code: each block fenced as Python is a call of the one tool that takes code. What
 * stands around the blocks, blocks of other languages included, is what was said.
 */
@toolCallFormat({
  name: 'python-block',
  description: 'Each block of code between ```python and ``` is given to the tool that takes code.',
  settings: codeTargetSettings,
})
export class PythonBlockFormat implements ToolCallFormat {
  readonly opensCall = [fence];

  constructor(@inject(SETTINGS) private readonly settings: CodeTargetSettings) {}

  read({ text, turn, inThought, tools }: SampledTurn): AssistantMessage {
    const { spoken, thoughts } = splitThoughts(text, inThought, closedBlock);
    const reading = new TurnReading(turn, thoughts);
    const target = codeTarget(tools, this.settings);
    let from = 0;
    for (const block of pythonBlocks(spoken)) {
      reading.say(spoken.slice(from, block.start));
      from = block.end;
      const written = spoken.slice(block.start, block.end);
      if (block.code === undefined)
        reading.call(
          written,
          `The block is not closed: end it with ${fence} on a line of its own.`,
        );
      else if (typeof target === 'string') reading.call(written, `No code can be run: ${target}.`);
      else reading.call(written, codeCall(target, block.code));
    }
    reading.say(spoken.slice(from));
    return reading.message();
  }

  /** @throws AgentRlError `CONFIG_INVALID` for a call of another tool than the one that takes code. */
  print(call: BareCall, tools: readonly ToolSpec[]): string {
    const target = codeTarget(tools, this.settings);
    const code = typeof target === 'string' ? undefined : codeOf(call, target);
    if (code !== undefined) return `${fence}python\n${code}\n${fence}`;
    const why =
      typeof target === 'string' ? target : `code goes to ${target.tool}.${target.argument}`;
    throw new AgentRlError(
      'CONFIG_INVALID',
      `A call of ${call.name} cannot be written as a block of Python: ${why}. Take it out of the conversations, or choose another policy.toolCallFormat.`,
    );
  }

  fits({ source }: TemplateSample): boolean {
    return source.includes(`${fence}python`);
  }

  problemWith(tools: readonly ToolSpec[]): string | undefined {
    const target = codeTarget(tools, this.settings);
    return typeof target === 'string' ? target : undefined;
  }
}

interface Block extends Stretch {
  /** Undefined when it is not closed. */
  code: string | undefined;
}

const opening = /^[ \t]*```[ \t]*([\w+-]*)[^`]*$/;
const closing = /^[ \t]*```[ \t]*$/;

/** Blocks of Python, in order. A fence inside a block of another language opens nothing. */
function pythonBlocks(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { start: number; body: number; python: boolean } | undefined;
  let at = 0;
  for (const line of text.split('\n')) {
    const end = at + line.length;
    if (open === undefined) {
      const language = opening.exec(line)?.[1]?.toLowerCase();
      const python = language === 'python' || language === 'py';
      if (language !== undefined) open = { start: at, body: end + 1, python };
    } else if (closing.test(line)) {
      const code = text.slice(open.body, Math.max(open.body, at - 1));
      if (open.python) blocks.push({ start: open.start, end, code });
      open = undefined;
    }
    at = end + 1;
  }
  if (open?.python === true) blocks.push({ start: open.start, end: text.length, code: undefined });
  return blocks;
}

/** The next closed block of Python; a mark of a thought in its code is the code's text. */
const closedBlock = (text: string, from: number): Stretch | undefined =>
  pythonBlocks(text).find(({ start, code }) => start >= from && code !== undefined);
