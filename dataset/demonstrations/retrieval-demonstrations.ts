import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import { system, user } from '../../agent_rl/core/message.ts';
import type { SearchHit } from '../../agent_rl/core/services/search.ts';
import type { SearchTask } from '../../agent_rl/core/tasks/search-task.ts';
import { calledTurn } from './called-turn.ts';
import type { Demonstration } from './demonstrations.ts';

/** A search as the agent sees it: what it reads, and the hits behind it. */
export type ShownSearch = (
  query: string,
) => Promise<{ content: string; hits: readonly SearchHit[] }>;

export interface RetrievalTeacher {
  search: ShownSearch;
  /** Said before each question. */
  systemPrompt?: string | undefined;
}

/** Most words of a demonstrated answer. */
const mostWords = 50;

/**
 * Questions with a reference answer, in an order drawn by the seed, each with one search for the question itself and an answer in
 * whole sentences that the search showed and that the reference has too, from the first on as long as they fit. Questions for which it
 * showed none, or a too long one first, are left out: their answer would teach to say what was not found.
 *
 * @yields One conversation after another, as long as there are questions.
 */
export async function* retrievalDemonstrations(
  seed: number,
  tasks: readonly SearchTask[],
  { search, systemPrompt }: RetrievalTeacher,
): AsyncGenerator<Demonstration> {
  for (const { prompt, answer } of new KeyedRng(seed, 'retrieval teacher').shuffle(tasks)) {
    const { content, hits } = await search(prompt);
    const said = foundAnswer(hits, answer);
    if (said === '') continue;
    const call = { name: 'search', arguments: { query: prompt } };
    yield {
      kind: call.name,
      messages: [
        ...(systemPrompt === undefined ? [] : [system(systemPrompt)]),
        user(prompt),
        ...calledTurn(0, { ...call, content }),
        { role: 'assistant', content: said },
      ],
      correct: true,
    };
  }
}

/** Sentences that were shown and are the reference's, up to the first that does not fit; empty without one. */
function foundAnswer(hits: readonly SearchHit[], reference: string): string {
  const wanted = plain(reference);
  const sentences = hits
    .flatMap(({ text }) => sentencesOf(text))
    .filter((sentence) => wanted.includes(sentence));
  let said = '';
  for (const sentence of new Set(sentences)) {
    const longer = `${said} ${sentence}`.trim();
    if (longer.split(' ').length > mostWords) break;
    said = longer;
  }
  return said;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Whole ones: what was cut off ends in no full stop. */
const sentencesOf = (text: string): string[] =>
  [...segmenter.segment(plain(text))]
    .map(({ segment }) => segment.trim())
    .filter((sentence) => /^\p{Lu}.*[.!?]$/u.test(sentence) && sentence.split(' ').length > 4);

const plain = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim();
