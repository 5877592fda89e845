/**
 * Tool calls as Hermes and Qwen models write them: `<tool_call>`, a JSON object with `name` and `arguments`,
 * `</tool_call>`. Thoughts stand in `<think>…</think>`; a call inside a thought is not a call.
 * Nothing a model writes makes the parser throw, and no text of a turn is anything but the assistant's.
 */
import type { AssistantMessage, MalformedCall, ToolCall } from '../agent_rl/core/message.ts';
import { isRecord } from './is-record.ts';
import { pythonJson } from './python-json.ts';

const [openCall, closeCall] = ['<tool_call>', '</tool_call>'];
const [openThought, closeThought] = ['<think>', '</think>'];

export interface ParseTurnOptions {
  /** Index of the turn in its episode, for the ids `call_<turn>_<index>`. */
  readonly turn: number;
  /** The generation cue has already opened a thought. */
  readonly inThought?: boolean;
}

/** Reads one turn of the model, without its end-of-turn token. */
export function parseAssistantTurn(
  text: string,
  { turn, inThought = false }: ParseTurnOptions,
): AssistantMessage {
  const { spoken, thoughts } = splitThoughts(text, inThought);
  const content: string[] = [];
  const toolCalls: ToolCall[] = [];
  const malformedCalls: MalformedCall[] = [];
  let from = 0;
  for (let index = 0; ; index++) {
    const open = spoken.indexOf(openCall, from);
    content.push(spoken.slice(from, open < 0 ? undefined : open));
    if (open < 0) break;
    const block = callBlock(spoken, open + openCall.length);
    from = block.end;
    const read = block.closed
      ? readCall(block.body)
      : `The call is not closed: end it with ${closeCall}.`;
    const id = `call_${turn}_${index}`;
    if (typeof read === 'string')
      malformedCalls.push({ id, text: spoken.slice(open, block.end), problem: read });
    else toolCalls.push({ id, ...read });
  }
  const reasoning = thoughts
    .map((thought) => thought.trim())
    .filter(Boolean)
    .join('\n\n');
  return {
    role: 'assistant',
    content: content.join('').trim(),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(malformedCalls.length === 0 ? {} : { malformedCalls }),
  };
}

/** A call as the chat template writes it. */
export function printToolCall({
  name,
  arguments: args,
}: Pick<ToolCall, 'name' | 'arguments'>): string {
  return `${openCall}\n{"name": ${JSON.stringify(name)}, "arguments": ${pythonJson(args)}}\n${closeCall}`;
}

function splitThoughts(text: string, inThought: boolean): { spoken: string; thoughts: string[] } {
  const spoken: string[] = [];
  const thoughts: string[] = [];
  let from = 0;
  for (let thinking = inThought; ; thinking = !thinking) {
    const mark = thinking ? closeThought : openThought;
    const at = thinking ? text.indexOf(mark, from) : openingThought(text, from);
    (thinking ? thoughts : spoken).push(text.slice(from, at < 0 ? undefined : at));
    if (at < 0) return { spoken: spoken.join(''), thoughts };
    from = at + mark.length;
  }
}

/** Where the next thought opens; a mark inside a call's JSON is an argument's text. */
function openingThought(text: string, from: number): number {
  let at = from;
  for (;;) {
    const thought = text.indexOf(openThought, at);
    const call = text.indexOf(openCall, at);
    if (thought < 0 || call < 0 || thought < call) return thought;
    const block = callBlock(text, call + openCall.length);
    if (!block.closed) return thought;
    at = block.end;
  }
}

interface CallBlock {
  readonly body: string;
  /** Index after the block. */
  readonly end: number;
  readonly closed: boolean;
}

/**
 * The block of a call that opens before `start`. Marks inside a JSON string belong to the string; JSON strings
 * hold no raw line breaks, so one that meets a line break is broken and the first closing mark counts after all.
 */
function callBlock(text: string, start: number): CallBlock {
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
      else if (character === '\n') break;
    } else if (character === '"') inString = true;
    else if (text.startsWith(closeCall, i)) return closedAt(text, start, i);
    else if (text.startsWith(openCall, i)) return { body: '', end: i, closed: false };
  }
  const close = text.indexOf(closeCall, start);
  const next = text.indexOf(openCall, start);
  if (close >= 0 && (next < 0 || close < next)) return closedAt(text, start, close);
  return { body: '', end: next < 0 ? text.length : next, closed: false };
}

function closedAt(text: string, start: number, close: number): CallBlock {
  return { body: text.slice(start, close), end: close + closeCall.length, closed: true };
}

/** The call, or what is wrong with it. */
function readCall(body: string): Pick<ToolCall, 'name' | 'arguments'> | string {
  const call = parsed(body);
  const shape = 'write {"name": "…", "arguments": {…}}';
  if (call === undefined) return `The call is not valid JSON: ${shape}.`;
  if (!isRecord(call)) return `The call is not a JSON object: ${shape}.`;
  const { name } = call;
  if (typeof name !== 'string' || name === '') return `The call has no "name": ${shape}.`;
  if (call['arguments'] === undefined)
    return `The call has no "arguments": write {} when there are none.`;
  // Some models write the arguments as a string of JSON, as the OpenAI API does.
  const args =
    typeof call['arguments'] === 'string' ? parsed(call['arguments']) : call['arguments'];
  if (!isRecord(args)) return `The "arguments" of ${name} are not a JSON object: ${shape}.`;
  return { name, arguments: args };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
