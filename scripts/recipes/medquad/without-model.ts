import type { PreparedRun } from '../../../agent_rl/compose/prepare-run.ts';
import { acceptedAnswers } from '../../../agent_rl/core/tasks/answer-match.ts';
import type { SearchTask } from '../../../agent_rl/core/tasks/search-task.ts';
import {
  openSimilarityScale,
  type SimilarityScale,
} from '../../../agent_rl/rewards/answer-similarity/answer-similarity.ts';
import { reciprocalRank } from '../../../agent_rl/rewards/mrr.ts';
import type { TaskAttempts } from '../../../agent_rl/trainer/success-rate.ts';
import type { ShownSearch } from '../../../dataset/demonstrations/retrieval-demonstrations.ts';
import type { TaskCounts } from '../../bench/controls/counts.ts';
import type { Kept } from '../../bench/controls/figures.ts';
import { prepareOwn, readOnce, type SeedOptions } from '../../bench/controls/seed.ts';
import { openRunSearch } from './open-run-search.ts';
import { questionsOf } from './questions-of.ts';

/** What is said without a model after a search for the question: the question, the first passage, or all that are shown. */
export type WithoutModel = Readonly<Record<'question' | 'first' | 'all', Kept>>;

/** How the run's own rewards see the questions of its evaluation answered without a model. */
export const withoutModel = (seed: SeedOptions): Promise<WithoutModel> =>
  readOnce(seed, 'without-model', async () => {
    const prepared = await prepareOwn(seed);
    const { evaluation } = await questionsOf(prepared, seed.print);
    const { search, close } = await openRunSearch(prepared);
    try {
      const scores = await scoresOfAll(evaluation, search, prepared);
      const kept = (said: keyof WithoutModel): Kept => ({
        perTask: evaluation.map(({ taskId }) => attemptedOnce(taskId)),
        counts: scores.map((one) => searchedOnce(one.mrr, one[said])),
      });
      return { question: kept('question'), first: kept('first'), all: kept('all') };
    } finally {
      await close();
    }
  });

const attemptedOnce = (taskId: string): TaskAttempts => ({
  taskId,
  n: 1,
  failed: 0,
  successes: 0,
  groups: [],
  ofSlice: false,
});

const searchedOnce = (mrr: number, similarity: number): TaskCounts => ({
  calls: 1,
  errors: 0,
  solvedCalls: 0,
  solvedErrors: 0,
  saidOther: 0,
  found: 0,
  scores: { 'search/mrr': mrr, answer_similarity: similarity },
});

async function scoresOfAll(
  tasks: readonly SearchTask[],
  search: ShownSearch,
  prepared: PreparedRun,
) {
  const scale = await openSimilarity(prepared, tasks);
  try {
    return await Promise.all(tasks.map((task) => scoresOf(task, search, scale)));
  } finally {
    await scale.close();
  }
}

async function scoresOf(task: SearchTask, search: ShownSearch, scale: SimilarityScale) {
  const { hits } = await search(task.prompt);
  const near = (text: string): Promise<number> => scale.compare(text, acceptedAnswers(task));
  return {
    mrr: reciprocalRank(hits, new Set(task.documentIds)),
    question: await near(task.prompt),
    first: await near(hits[0]?.text ?? ''),
    all: await near(hits.map(({ text }) => text).join('\n')),
  };
}

/** As the run's own reward has it, its floor measured on these tasks as in an evaluation. */
function openSimilarity(
  { chosen }: PreparedRun,
  tasks: readonly SearchTask[],
): Promise<SimilarityScale> {
  const reward = chosen.rewards.find(({ name }) => name === 'answer_similarity');
  const settings = reward?.settings as Parameters<typeof openSimilarityScale>[0];
  return openSimilarityScale(settings, { tasks, environment: process.env });
}
