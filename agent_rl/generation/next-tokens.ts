import type { CopyPart } from './array-pool.ts';
import type { Drawn } from './draw-truncated.ts';
import { truncates } from '../core/services/generator.ts';
import { drawKnown, isShared, type KnownContext, type NextTokens } from './known-contexts.ts';
import type { Feed } from './drafts/feeds.ts';
import type { LanesStep } from './lanes.ts';
import type { ActiveRequest, Slot } from './slot.ts';

/** The token that a request draws after a known context; absent where its distribution is not known at this sampling. */
export const drawnAfter = (
  { next }: KnownContext,
  active: ActiveRequest | undefined,
): Drawn | undefined => next && active && drawKnown(next, active.request.sampling, active.uniform);

/** Whether what follows the tokens of a feed is drawn outside of the program, or by other slots too. */
export const drawsFromWhole = ({ slot: { active, context, pending }, tokens }: Feed): boolean =>
  pending.length <= tokens.length &&
  (truncates(active!.request.sampling) || (context !== undefined && isShared(context)));

/** The distribution of a slot's token, to be kept; absent where it was not fetched. */
export function nextOf({ row, active }: Slot, step: LanesStep, place: number) {
  const temperature = active?.request.sampling.temperature;
  if (step.wholeIn === undefined || temperature === undefined) return undefined;
  const { logProbs, cumulative, from, to } = step.wholeIn(row, place);
  return (copy: CopyPart): NextTokens => ({
    temperature,
    logProbs: copy(logProbs, from, to),
    cumulative: copy(cumulative, from, to),
    likeliest: temperature <= 0 ? step.drawnIn(row, place) : undefined,
  });
}

/** Among slots with the same context and the same token to feed, the one in the first row: the others follow it. */
export function firstOfEach(slots: readonly Slot[]): Slot[] {
  const known = new Map<KnownContext, Set<number>>();
  return slots.filter(({ context, pending: [token] }) => {
    if (context === undefined || token === undefined || !isShared(context)) return true;
    const tokens = known.get(context) ?? new Set();
    known.set(context, tokens);
    return tokens.size < tokens.add(token).size;
  });
}
