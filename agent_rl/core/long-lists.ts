/*
 * For lists that grow with the data. A list spread over the arguments of a call, as in `push(...list)` or
 * `Math.max(...list)`, lies on the stack, which some 120,000 items overflow.
 */

/** Adds items to the end of a list. */
export function append<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** The largest of the values and of `least`, which is -Infinity where it is not given; NaN where one value is. */
export const largest = (values: readonly number[], least = -Infinity): number =>
  values.reduce((most, value) => Math.max(most, value), least);

/** The smallest of the values; Infinity for none, NaN where one is. */
export const smallest = (values: readonly number[]): number =>
  values.reduce((least, value) => Math.min(least, value), Infinity);

/** Items by a key, in the order in which keys first occur. */
export function groupBy<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [item]);
    else members.push(item);
  }
  return groups;
}
