import { isRecord } from '../../core/is-record.ts';

/** What the server of llama.cpp says of a token in a place. */
export type Entry = Readonly<Record<string, unknown>>;

/** The entries that an object has under a name, those that say whose they are. */
export function entriesIn(given: unknown, name: string): readonly Entry[] {
  const entries: unknown = isRecord(given) ? given[name] : undefined;
  return Array.isArray(entries)
    ? entries.filter((one): one is Entry => isRecord(one) && 'id' in one)
    : [];
}

/** In nats: of the model, or under what is drawn from where the server was asked for probabilities of that. */
export const logProbOf = ({ logprob, prob }: Entry): unknown =>
  typeof prob === 'number' ? Math.log(prob) : logprob;

/**
 * Log-probabilities of tokens, NaN where there is none: the server leaves out tokens after which the text ends in the middle of a
 * character, and does not say which. What could be of one token as well as of another is taken for missing in both places.
 *
 * @returns undefined where entries are of tokens that were not drawn
 */
export function alignedLogProbs(
  tokens: readonly number[],
  entries: readonly Entry[],
): number[] | undefined {
  const first: number[] = [];
  for (const [place, token] of tokens.entries())
    if (entries[first.length]?.['id'] === token) first.push(place);
  if (first.length < entries.length) return undefined;
  const last: number[] = [];
  for (let place = tokens.length - 1; place >= 0; place--)
    if (entries.at(-1 - last.length)?.['id'] === tokens[place]) last.push(place);
  last.reverse();
  const logProbs = tokens.map(() => Number.NaN);
  for (const [i, entry] of entries.entries()) {
    const place = first[i]!;
    if (place === last[i]) logProbs[place] = logProbOf(entry) as number;
  }
  return logProbs;
}
