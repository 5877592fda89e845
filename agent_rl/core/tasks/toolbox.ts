import type { FoundTool, ToolResult } from '../plugins/tool.ts';

/** Values of calls by their roles: whole numbers, dates `YYYY-MM-DD` and texts. */
type Values = Readonly<Record<'a' | 'b' | 'value' | 'days' | 'amount', number>> &
  Readonly<Record<'start' | 'date' | 'text' | 'key' | 'box' | 'from' | 'to', string>>;

/** What a tool knows, and the boxes that the tools of an episode share. */
interface World {
  table?: Readonly<Record<string, number>> | undefined;
  factor?: number | undefined;
  boxes: Map<string, number>;
}

/** A tool that a task brings, with what the model never sees of it. */
export interface ToolboxTool
  extends Pick<FoundTool, 'name' | 'description' | 'parameters'>, Omit<World, 'boxes'> {
  operation: string;
  /** Where each value is in the arguments of a call, by its role. */
  paths: Readonly<Record<string, readonly string[]>>;
  /** Its results are wrong. */
  lies?: boolean;
}

/** What a task of the environment `toolbox` has besides question and answer. */
export interface Toolbox {
  tools: readonly ToolboxTool[];
  /** Right calls, in order; empty where no tool can do what is asked: right is then to say so. */
  calls: readonly { name: string; arguments: Readonly<Record<string, unknown>> }[];
  /** What is in the boxes at first. */
  boxes: Readonly<Record<string, number>>;
}

/** The system message of every episode. */
export const toolboxInstruction =
  'Answer with what the tools say: "The answer is RESULT." If no tool can do what is asked, say "no tool".';

const dateText = (ms: number): string | undefined =>
  Math.abs(ms) < 8e15 ? new Date(ms).toISOString().replace(/T.*/, '') : undefined;
const weekdays = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

function put(boxes: World['boxes'], changes: Readonly<Record<string, number>>): string | undefined {
  if (!Object.keys(changes).every((box) => boxes.has(box))) return undefined;
  for (const [box, by] of Object.entries(changes)) boxes.set(box, (boxes.get(box) ?? 0) + by);
  return 'done';
}

type Apply = (given: Values, world: World) => string | number | undefined;

/** By names that the model never sees: roles and result, undefined for values that the world does not know. */
const operations: Readonly<Record<string, readonly [roles: string, apply: Apply]>> = {
  add_numbers: ['a b', ({ a, b }) => a + b],
  subtract_numbers: ['a b', ({ a, b }) => a - b],
  multiply_numbers: ['a b', ({ a, b }) => a * b],
  remainder_of: ['a b', ({ a, b }) => (b === 0 ? undefined : a % b)],
  look_up_entry: ['key', ({ key }, { table = {} }) => new Map(Object.entries(table)).get(key)],
  find_holder: [
    'value',
    (of, { table = {} }) => Object.keys(table).find((key) => table[key] === of.value),
  ],
  convert_unit: ['value', ({ value }, { factor = 1 }) => value * factor],
  later_date: ['start days', ({ start, days }) => dateText(Date.parse(start) + days * 864e5)],
  day_of_week: ['date', ({ date }) => weekdays[new Date(date).getUTCDay()]],
  write_backwards: ['text', ({ text }) => Array.from(text).toReversed().join('')],
  drop_vowels: ['text', ({ text }) => text.replaceAll(/[aeiou]/gi, '')],
  put_in_box: ['box amount', ({ box, amount }, { boxes }) => put(boxes, { [box]: amount })],
  move_between_boxes: [
    'from to amount',
    ({ from, to, amount }, { boxes }) => put(boxes, { [from]: -amount, [to]: amount }),
  ],
  read_box: ['box', ({ box }, { boxes }) => boxes.get(box)],
};

/** The roles of an operation's values. */
export const rolesOf = (operation: string): string[] =>
  (operations[operation]?.[0] ?? '').split(' ');

const inside = (at: unknown, key: string): unknown => (at as Record<string, unknown>)[key];

/** Answers a call. @param args fit the tool's parameters */
export function callToolbox(tool: ToolboxTool, args: unknown, boxes: World['boxes']): ToolResult {
  const { operation, paths, table, factor, name, lies = false } = tool;
  const values = Object.entries(paths).map(([role, path]) => [role, path.reduce(inside, args)]);
  const given = Object.fromEntries(values) as Values;
  const content = String(operations[operation]?.[1](given, { table, factor, boxes }) ?? '');
  if (content === '') return { content: `Error: ${name} finds nothing for that.`, isError: true };
  return { content: lies ? otherThan(content) : content };
}

/** The same text with another last letter or digit. */
function otherThan(text: string): string {
  const last = text.slice(-1);
  const other = /\d/.test(last) ? (Number(last) + 1) % 10 : last === 'x' ? 'k' : 'x';
  return `${text.slice(0, -1)}${other}`;
}

/** What the right calls are answered, in order. */
export function answersTo({ tools, calls, boxes }: Toolbox): string[] {
  const store = new Map(Object.entries(boxes));
  return calls.map(({ name, arguments: args }) => {
    const tool = tools.find((one) => one.name === name);
    return tool === undefined ? '' : callToolbox(tool, args, store).content;
  });
}

/** What they come to. */
export const answerOf = (box: Toolbox): string => answersTo(box).at(-1) ?? 'no tool';
