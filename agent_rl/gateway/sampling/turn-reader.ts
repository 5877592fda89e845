import type { LanguageModel } from '../../../model/text/language-model.ts';
import type { AssistantMessage } from '../../core/message.ts';
import type { ToolCallFormat } from '../../core/plugins/tool-call-format.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import { PlainFormat } from '../../policies/tool-call-formats/plain-format.ts';
import { closeThought, openThought } from '../../policies/tool-call-formats/read-turn.ts';

/** Reads turns as the policy does. Who gave no tools is given no calls: what was written as one is text. */
export class TurnReader {
  readonly #plain = new PlainFormat();

  constructor(
    private readonly format: ToolCallFormat,
    private readonly inThought: boolean,
  ) {}

  /** What a text says as a turn: thought, content, calls. */
  read(text: string, tools: readonly ToolSpec[]): AssistantMessage {
    return this.#formatFor(tools).read({ text, turn: 0, inThought: this.inThought, tools });
  }

  /** The part of the beginning of a turn that reads the same whatever follows it. */
  settled(text: string, tools: readonly ToolSpec[]): string {
    const { opensCall } = this.#formatFor(tools);
    return opensCall === undefined
      ? ''
      : beforeCalls(text, { opensCall, inThought: this.inThought });
  }

  #formatFor(tools: readonly ToolSpec[]): ToolCallFormat {
    return tools.length === 0 ? this.#plain : this.format;
  }
}

function beforeCalls(
  text: string,
  { opensCall, inThought }: { opensCall: readonly string[]; inThought: boolean },
): string {
  let from = 0;
  for (let thinking = inThought; ; thinking = !thinking) {
    const marks = thinking ? [closeThought] : [openThought, ...opensCall];
    const [at, mark] = firstOf(marks, text, from);
    if (mark === undefined) return withoutPartial(text, marks);
    if (opensCall.includes(mark)) return text.slice(0, at);
    // A call may begin before a thought and go on behind it.
    const before = thinking ? text.slice(0, at) : withoutPartial(text.slice(0, at), opensCall);
    if (before.length < at) return before;
    from = at + mark.length;
  }
}

function firstOf(
  marks: readonly string[],
  text: string,
  from: number,
): [number, string | undefined] {
  let found: [number, string | undefined] = [text.length, undefined];
  for (const mark of marks) {
    const at = text.indexOf(mark, from);
    if (at >= 0 && at < found[0]) found = [at, mark];
  }
  return found;
}

/** @param settings of the policy whose turns are read */
export function turnReader(
  { template }: LanguageModel,
  format: ToolCallFormat | undefined,
  settings: Readonly<Record<string, unknown>>,
): TurnReader {
  const { thinking, templateDate } = settings;
  const inThought = template.cueOpensThought({
    thinking: typeof thinking === 'boolean' ? thinking : undefined,
    date: typeof templateDate === 'string' ? templateDate : undefined,
  });
  return new TurnReader(format ?? new PlainFormat(), inThought);
}

/** A text without an end that may be the beginning of one of some texts. */
export function withoutPartial(text: string, wholes: readonly string[]): string {
  const longest = wholes.reduce((most, { length }) => Math.max(most, length - 1), 0);
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(-length);
    const begins = (whole: string): boolean => whole.length > length && whole.startsWith(end);
    if (wholes.some(begins)) return text.slice(0, -length);
  }
  return text;
}
