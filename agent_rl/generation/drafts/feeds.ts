import { sum } from '../../algorithms/statistics.ts';
import { leftOfWindow, windowTokens } from '../../../model/decoder/windows.ts';
import type { Widths } from '../programs/step-sizes.ts';
import type { Slot } from '../slot.ts';
import type { Drafts } from './drafts.ts';

/** Tokens that a step feeds to the row of a slot: of those that are to be fed, and then guesses of what it will draw. */
export interface Feed {
  slot: Slot;
  tokens: readonly number[];
}

/** The tokens that a step feeds, at most `width` to a slot. */
export interface Feeds {
  feeds: readonly Feed[];
  width: number;
}

/**
 * Tokens of each row that a step of more must be expected to save: it takes 1.2 to 2.2 times as long as one that feeds as little as
 * can be.
 */
const leastSaved = 0.75;

/** The tokens that the next step feeds to some slots: as few as possible, or more where that is expected to save time. */
export function feedsOf(slots: readonly Slot[], { least, most }: Widths, drafts: Drafts): Feeds {
  const whole = slots.map((slot) => feedOf(slot, most, drafts));
  const saved = sum(
    whole.map(({ slot: { pending }, tokens }) => {
      const certain = Math.min(pending.length, tokens.length);
      return certain - 1 + drafts.rate * (tokens.length - certain);
    }),
  );
  if (least === most || saved >= leastSaved * slots.length) return { feeds: whole, width: most };
  const feeds = whole.map(({ slot, tokens }) => ({ slot, tokens: tokens.slice(0, least) }));
  return { feeds, width: least };
}

/** The next tokens of slots that are to be fed more than a window: up to the end of the window that each is in. */
export const windowsOfSlots = (slots: readonly Slot[]): Feeds => ({
  width: windowTokens,
  feeds: slots.map((slot) => ({
    slot,
    tokens: slot.pending.slice(0, leftOfWindow(slot.cached.length)),
  })),
});

function feedOf(slot: Slot, most: number, drafts: Drafts): Feed {
  const { pending, cached, active } = slot;
  const room = Math.min(most, leftOfWindow(cached.length));
  const certain = pending.slice(0, room);
  const { maxTokens, stopTokens } = active!.request;
  // The last draw of a turn is not fed.
  const left = Math.min(room - certain.length, maxTokens - active!.tokens.length - 1);
  const guesses = left > 0 ? drafts.after(cached.concat(pending), left) : [];
  const stop = guesses.findIndex((token) => stopTokens.includes(token));
  return { slot, tokens: certain.concat(stop < 0 ? guesses : guesses.slice(0, stop)) };
}
