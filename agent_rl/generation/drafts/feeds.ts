import { sum } from '../../algorithms/statistics.ts';
import { largest } from '../../core/long-lists.ts';
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

/** What decides about the tokens of a step. */
export interface FeedRules {
  widths: Widths;
  /** Tokens that are computed for some. */
  tokensOf: (count: number) => number;
  drafts: Drafts;
}

/** What attention to a place of a row without a token costs, in tokens: measured with 2.6 million weights and 32 rows. */
const costOfPlace = 1 / 3;

/**
 * The tokens that the next step feeds to some slots: what is certain, and guesses where these are expected to save time. A right one saves
 * its token of a later step, and its row's share of what that step costs by itself.
 */
export function feedsOf(
  slots: readonly Slot[],
  { widths: { least, most, guesses, ownTokens }, tokensOf, drafts }: FeedRules,
): Feeds {
  const certain = widthFor(
    slots.map((slot) => certainOf(slot, most)),
    least,
  );
  if (!guesses) return certain;
  const guessed = widthFor(
    certain.feeds.map((feed) => withGuesses(feed, most, drafts)),
    least,
  );
  const [few, all] = [certain, guessed].map(({ feeds }) =>
    sum(feeds.map((feed) => feed.tokens.length)),
  ) as [number, number];
  const saved = drafts.rate * (all - few) * (1 + ownTokens / slots.length);
  const places = (guessed.width - certain.width) * slots.length - (all - few);
  const cost = tokensOf(all) - tokensOf(few) + costOfPlace * Math.max(0, places);
  return saved >= cost ? guessed : certain;
}

/** As many places as the row with the most tokens has of them. */
const widthFor = (feeds: readonly Feed[], least: number): Feeds => ({
  feeds,
  width: largest(
    feeds.map(({ tokens }) => tokens.length),
    least,
  ),
});

/** The next tokens of slots that are to be fed more than a window: up to the end of the window that each is in. */
export const windowsOfSlots = (slots: readonly Slot[]): Feeds => ({
  width: windowTokens,
  feeds: slots.map((slot) => ({
    slot,
    tokens: slot.pending.slice(0, leftOfWindow(slot.cached.length)),
  })),
});

function certainOf(slot: Slot, most: number): Feed {
  const room = Math.min(most, leftOfWindow(slot.cached.length));
  return { slot, tokens: slot.pending.slice(0, room) };
}

function withGuesses({ slot, tokens }: Feed, most: number, drafts: Drafts): Feed {
  const { pending, cached, active } = slot;
  const { maxTokens, stopTokens } = active!.request;
  const room = Math.min(most, leftOfWindow(cached.length)) - tokens.length;
  // The last draw of a turn is not fed.
  const left = Math.min(room, maxTokens - active!.tokens.length - 1);
  const guesses = left > 0 ? drafts.after(cached.concat(pending), left) : [];
  const stop = guesses.findIndex((token) => stopTokens.includes(token));
  return { slot, tokens: tokens.concat(stop < 0 ? guesses : guesses.slice(0, stop)) };
}
