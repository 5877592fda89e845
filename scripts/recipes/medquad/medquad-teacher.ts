import { AgentRlError } from '../../../agent_rl/core/errors.ts';
import type { Conversation } from '../../../dataset/demonstrations/conversations.ts';
import { retrievalDemonstrations } from '../../../dataset/demonstrations/retrieval-demonstrations.ts';
import { prepareOwn } from '../../bench/controls/seed.ts';
import type { Teach } from '../smollm2/recipe-options.ts';
import { openRunSearch } from './open-run-search.ts';
import { questionsOf } from './questions-of.ts';

/**
 * Searches of the questions that the run trains on, by its own tool, and answers in the words of what they showed.
 *
 * @throws AgentRlError `DATASET_INVALID` where too few questions are answered by what is shown
 */
export const medQuadTeacher: Teach = async (options, _warmUp, count) => {
  const prepared = await prepareOwn(options);
  const { seed, print, folder } = options;
  const { train } = await questionsOf(prepared, print);
  const [environment] = prepared.chosen.environments;
  const systemPrompt = environment?.settings['systemPrompt'] as string | undefined;
  const { search, close } = await openRunSearch(prepared);
  const conversations: Conversation[] = [];
  try {
    for await (const { messages } of retrievalDemonstrations(seed, train, {
      search,
      systemPrompt,
    })) {
      conversations.push({ messages });
      if (conversations.length === count) return conversations;
    }
  } finally {
    await close();
  }
  throw new AgentRlError(
    'DATASET_INVALID',
    `Searches find the answers to ${conversations.length} of ${train.length} questions, but supervised training needs ${count}. Set --medquad to more documents, or --sft-config to a run file with fewer train.iterations. Then delete ${folder} and try again.`,
  );
};
