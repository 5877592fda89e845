import { readMarked } from '../../agent_rl/core/python/python-json.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';

/** A row with marks for the numbers of arguments and tools, and nowhere else. @throws SyntaxError */
export function parseConversation(json: string): unknown {
  const row: unknown = JSON.parse(json);
  const marked = readMarked(json);
  // Nothing in it is printed otherwise.
  if (JSON.stringify(marked) === JSON.stringify(row)) return row;
  return withMarksAt(row, marked);
}

/** Where numbers may stand: in arguments, of OpenAI's form too, and in all of a tool. */
const markedPlaces = /^(?:messages\.\d+\.tool_calls\.\d+\.(?:function\.)?arguments|tools)$/;

/** A value with the parts of its twin at some places. */
function withMarksAt(value: unknown, marked: unknown, path = ''): unknown {
  if (markedPlaces.test(path)) return marked;
  const below = (part: unknown, key: string | number, twin: unknown): unknown =>
    withMarksAt(part, twin, path === '' ? String(key) : `${path}.${key}`);
  if (Array.isArray(value) && Array.isArray(marked))
    return value.map((part, index): unknown => below(part, index, marked[index]));
  if (!isRecord(value) || !isRecord(marked)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, below(part, key, marked[key])]),
  );
}

/**
 * A row of conversations as the OpenAI API has them, or as exports of tables do, in our own form. Keys whose value is
 * null are as good as absent; a call stands in the `function` of {"type": "function"}; its arguments may be JSON as
 * text. Everything else stays as it is, to be checked.
 */
export function plainRow(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const row = withoutNulls(value);
  const { messages } = row;
  return Array.isArray(messages) ? { ...row, messages: messages.map(plainMessage) } : row;
}

function plainMessage(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { reasoning_content: reasoning, tool_calls: calls, ...message } = withoutNulls(value);
  return withoutNulls({
    // A turn of calls alone.
    content: calls === undefined ? undefined : '',
    reasoning,
    ...message,
    tool_calls: Array.isArray(calls) ? calls.map(plainCall) : calls,
  });
}

function plainCall(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { type, function: called, ...call } = withoutNulls(value);
  const whole =
    isRecord(called) && (type ?? 'function') === 'function' ? { ...call, ...called } : value;
  const { arguments: given } = whole;
  return typeof given === 'string' ? { ...whole, arguments: parsed(given) } : whole;
}

/** A text parsed as JSON, with marks for numbers. Text that is not JSON stays as it is, and then is no object of arguments. */
function parsed(text: string): unknown {
  try {
    return readMarked(text);
  } catch {
    return text;
  }
}

const withoutNulls = (record: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== null && value !== undefined),
  );
