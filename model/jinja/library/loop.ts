import type { Budget } from '../budget.ts';
import { equals } from '../values/comparing.ts';
import { Callable, type Loop, Undefined, Unsupported, type Value } from '../values/value.ts';

const numbers: Readonly<Record<string, (loop: Loop) => number>> = {
  index: ({ index }) => index + 1,
  index0: ({ index }) => index,
  revindex: ({ index, items }) => items.length - index,
  revindex0: ({ index, items }) => items.length - index - 1,
  length: ({ items }) => items.length,
  // A loop is deeper in a recursive one alone.
  depth: () => 1,
  depth0: () => 0,
};

const itemOr = (item: Value | undefined, problem: string): Value =>
  item === undefined ? new Undefined(problem) : item;

/** What `loop` tells of a loop's round; undefined for another name. */
export function loopAttribute(loop: Loop, name: string, budget: Budget): Value | undefined {
  const { index, items } = loop;
  const number = Object.hasOwn(numbers, name) ? numbers[name]?.(loop) : undefined;
  if (number !== undefined) return BigInt(number);
  switch (name) {
    case 'first':
      return index === 0;
    case 'last':
      return index === items.length - 1;
    case 'previtem':
      return itemOr(items[index - 1], 'there is no previous item');
    case 'nextitem':
      return itemOr(items[index + 1], 'there is no next item');
    case 'cycle':
      return new Callable(name, ({ positional }) => {
        if (positional.length === 0) throw new TypeError('no items for cycling given');
        return positional[index % positional.length] as Value;
      });
    case 'changed':
      return new Callable(name, ({ positional }) => {
        const isSame = loop.last !== undefined && equals(loop.last, positional, budget);
        loop.last = positional;
        return !isSame;
      });
    default:
      if (name.startsWith('_')) throw new Unsupported(`${name} of a loop`);
      return undefined;
  }
}
