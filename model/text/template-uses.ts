/** A node of any kind, as the parser makes it. */
export type Parsed = Readonly<Record<string, unknown>>;

/**
 * What becomes of a node's value, where that is more or less than going through its items or characters: it is asked for its kind or
 * for one item, looped over, joined to a longer text, which copies no text, or written out with all it holds.
 */
type Use = 'glanced at' | 'looped over' | 'joined' | 'written';

type Parts = (node: Parsed) => readonly unknown[];

const glancedAt: Readonly<Record<string, Parts>> = {
  If: ({ test }) => [test],
  Ternary: ({ condition }) => [condition],
  SelectExpression: ({ test }) => [test],
  UnaryExpression: ({ argument }) => [argument],
  BinaryExpression: ({ operator, left, right }) =>
    ['and', 'or'].includes(nameOf(operator)) ? [left, right] : [],
  TestExpression: ({ test, operand }) =>
    ['lower', 'upper'].includes(nameOf(test)) ? [] : [operand],
  FilterExpression: ({ filter, operand }) =>
    ['length', 'first', 'last'].includes(nameOf(filter)) ? [operand] : [],
  MemberExpression: ({ object, property }) =>
    (property as Parsed)['type'] === 'SliceExpression' ? [] : [object],
};

const loopedOver: Readonly<Record<string, Parts>> = {
  For: ({ iterable }) => {
    const { type, lhs } = iterable as Parsed;
    return [type === 'SelectExpression' ? lhs : iterable];
  },
};

const joined: Readonly<Record<string, Parts>> = {
  BinaryExpression: ({ operator, left, right }) =>
    ['~', '+'].includes(nameOf(operator)) ? [left, right] : [],
};

const written: Readonly<Record<string, Parts>> = {
  BinaryExpression: ({ operator, left, right }) =>
    ['==', '!='].includes(nameOf(operator)) ? [left, right] : [],
  FilterExpression: ({ filter, operand }) => {
    const { callee = filter } = filter as Parsed;
    return ['tojson', 'string', 'join'].includes(nameOf(callee)) ? [operand] : [];
  },
};

const nameOf = (node: unknown): string => String((node as Parsed)['value']);

export type Uses = Map<unknown, Use>;

const usesOfParts = Object.entries({
  'glanced at': glancedAt,
  'looped over': loopedOver,
  joined,
  written,
}) as [Use, Readonly<Record<string, Parts>>][];

/** Whether a node may make a new text, which costs what it is long however little of it is looked at. */
const makesText = (node: unknown): boolean =>
  ['FilterExpression', 'CallExpression', 'BinaryExpression'].includes(
    String((node as Parsed)['type']),
  );

/** Notes what becomes of the value of each node below one. */
export function noteUses(node: unknown, uses: Uses): void {
  if (Array.isArray(node) || node instanceof Map) {
    for (const part of node) noteUses(part, uses);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const parsed = node as Parsed;
  const { type, body, alternate, defaultBlock } = parsed;
  for (const [use, partsOf] of usesOfParts)
    for (const part of partsOf[String(type)]?.(parsed) ?? []) {
      if (use === 'glanced at' && makesText(part)) continue;
      uses.set(part, use);
      if (use === 'joined' && !uses.has(node)) uses.set(node, use);
    }
  for (const block of [body, alternate, defaultBlock])
    if (Array.isArray(block)) for (const part of block) uses.set(part, 'joined');
  for (const part of Object.values(parsed)) noteUses(part, uses);
  // A method goes through the text it is of.
  if (type === 'CallExpression') uses.delete((parsed['callee'] as Parsed)['object']);
}
