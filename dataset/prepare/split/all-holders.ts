import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import type { PreparedQuestion } from '../collection.ts';
import type { Chunked } from '../passages/chunks.ts';

/**
 * The questions with every document that holds the answer: the source names one, and others may have the very
 * passages that contain it. A search that finds those has found it too.
 */
export function withAllHolders(
  questions: readonly PreparedQuestion[],
  documents: readonly SearchDocument[],
  { chunks, placed }: Pick<Chunked, 'chunks' | 'placed'>,
): PreparedQuestion[] {
  const texts = new Map(documents.map(({ id, text }) => [id, text]));
  const holdersOf = (id: string, answer: string): readonly string[] => {
    const start = (texts.get(id) ?? '').indexOf(answer);
    if (start < 0) return [];
    const lists = (placed.get(id) ?? [])
      .filter((passage) => passage.start < start + answer.length && start < passage.end)
      .map(({ chunk }) => chunks[chunk]?.documentIds ?? []);
    const [first = [], ...rest] = lists;
    return first.filter((other) => rest.every((list) => list.includes(other)));
  };
  return questions.map((question) => {
    // For a question over several documents, each holds only a part.
    const [only, ...more] = question.documents;
    if (only === undefined || more.length > 0) return question;
    return { ...question, documents: [...new Set([only, ...holdersOf(only, question.answer)])] };
  });
}
