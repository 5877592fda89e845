/** What the readers of all formats share. */
import type { BareCall } from '../../core/plugins/tool-call-format.ts';
import type { AssistantMessage, MalformedCall, ToolCall } from '../../core/message.ts';
import { isRecord } from '../../core/is-record.ts';
import { isMark, readMarked, withoutMarks } from '../../core/python/python-json.ts';

export const [openThought, closeThought] = ['<think>', '</think>'];

/** A stretch of text in which a mark of a thought does not count: a call, or a block of code. */
export interface Stretch {
  start: number;
  /** Index after it. */
  end: number;
}

/** The next closed stretch that begins at `from` or later. */
type NextStretch = (text: string, from: number) => Stretch | undefined;

/** Parts what was thought from what was said. Without a closing mark everything after the opening one is thought. */
export function splitThoughts(
  text: string,
  inThought: boolean,
  nextStretch: NextStretch = () => undefined,
) {
  const spoken: string[] = [];
  const thoughts: string[] = [];
  let from = 0;
  for (let thinking = inThought; ; thinking = !thinking) {
    const mark = thinking ? closeThought : openThought;
    const at = thinking ? text.indexOf(mark, from) : openingThought(text, from, nextStretch);
    (thinking ? thoughts : spoken).push(text.slice(from, at < 0 ? undefined : at));
    if (at < 0) return { spoken: spoken.join(''), thoughts };
    from = at + mark.length;
  }
}

function openingThought(text: string, from: number, nextStretch: NextStretch): number {
  let at = from;
  for (;;) {
    const thought = text.indexOf(openThought, at);
    const stretch = nextStretch(text, at);
    if (thought < 0 || stretch === undefined || thought < stretch.start) return thought;
    at = stretch.end;
  }
}

/** A turn in the making; its calls are numbered as they come. */
export class TurnReading {
  readonly #content: string[] = [];
  readonly #toolCalls: ToolCall[] = [];
  readonly #malformedCalls: MalformedCall[] = [];

  constructor(
    private readonly turn: number,
    private readonly thoughts: readonly string[],
  ) {}

  say(text: string): void {
    this.#content.push(text);
  }

  /** @param read the call, or what is wrong with it */
  call(text: string, read: BareCall | string): void {
    const id = `call_${this.turn}_${this.#toolCalls.length + this.#malformedCalls.length}`;
    if (typeof read === 'string') this.#malformedCalls.push({ id, text, problem: read });
    else this.#toolCalls.push({ id, ...read });
  }

  message(): AssistantMessage {
    const reasoning = this.thoughts
      .map((thought) => thought.trim())
      .filter(Boolean)
      .join('\n\n');
    return {
      role: 'assistant',
      content: this.#content.join('').trim(),
      ...(reasoning === '' ? {} : { reasoning }),
      ...(this.#toolCalls.length === 0 ? {} : { toolCalls: this.#toolCalls }),
      ...(this.#malformedCalls.length === 0 ? {} : { malformedCalls: this.#malformedCalls }),
    };
  }
}

/** What a text says as JSON, with marks for numbers; `undefined` when it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return readMarked(text);
  } catch {
    // Text that is not JSON is the model's mistake, and the caller reports it to the model.
    return undefined;
  }
}

/**
 * A call whose name and arguments are given as `parsedJson` reads them, or what is wrong with it. Some models write the
 * arguments as a string of JSON, as the OpenAI API does.
 *
 * @param key what the format calls arguments
 * @param shape how to write a call
 */
export function callOf(
  name: unknown,
  given: unknown,
  key: string,
  shape: string,
): BareCall | string {
  if (typeof name !== 'string' || name === '' || isMark(name))
    return `The call has no "name": ${shape}.`;
  if (given === undefined) return `The call has no "${key}": write {} when there are none.`;
  const args = typeof given === 'string' ? parsedJson(given) : given;
  if (isRecord(args)) {
    const { value, written } = withoutMarks(args);
    return { name, arguments: value, written };
  }
  return `The "${key}" of ${name} are not a JSON object: ${shape}.`;
}

/** Whether what a format read is one call, this one, and nothing else. */
export function isOnly(message: AssistantMessage, call: BareCall): boolean {
  const { content, toolCalls = [], malformedCalls = [] } = message;
  const [read] = toolCalls;
  return (
    content === '' &&
    malformedCalls.length === 0 &&
    toolCalls.length === 1 &&
    read?.name === call.name &&
    JSON.stringify(read.arguments) === JSON.stringify(call.arguments)
  );
}
