import { isShared, type KnownContext } from './known-contexts.ts';
import type { Slot } from './slot.ts';

/** Of slots with one context and one token to feed, that in the first row: the others follow it. */
export function firstOfEach(slots: readonly Slot[]): Slot[] {
  const known = new Map<KnownContext, Set<number>>();
  return slots.filter(({ context, pending: [token] }) => {
    if (context === undefined || token === undefined || !isShared(context)) return true;
    const tokens = known.get(context) ?? new Set();
    known.set(context, tokens);
    return tokens.size < tokens.add(token).size;
  });
}
