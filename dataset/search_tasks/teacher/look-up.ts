import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';

/**
 * What a search engine would find among a few documents: first those with the query's rarest words. Stands for
 * the engine in demonstrations alone, where only its kind of result matters.
 */
export function lookUp(
  query: string,
  documents: readonly SearchDocument[],
  { topK, rng }: { topK: number; rng: KeyedRng },
): readonly SearchDocument[] {
  const terms = query.split(' ').filter((term) => term !== 'the');
  return rng
    .shuffle(documents)
    .map((document) => ({
      document,
      score: terms.reduce((sum, term) => sum + worth(term, document), 0),
    }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, topK)
    .map(({ document }) => document);
}

/** Names are rare and say most; a title counts for more than a mention. */
function worth(term: string, { title, text }: SearchDocument): number {
  if (title === term) return 20;
  if (!text.includes(term)) return 0;
  return /^[A-Z]/u.test(term) ? 10 : 3;
}
