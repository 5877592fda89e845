import { AgentRlError } from '../../../agent_rl/core/errors.ts';
import type { Message } from '../../../agent_rl/core/message.ts';
import { retrievalDemonstrations } from '../../../dataset/demonstrations/retrieval-demonstrations.ts';
import { prepareOwn } from '../../bench/controls/seed.ts';
import type { Teach } from '../smollm2/recipe-options.ts';
import { openQuestions } from './open-questions.ts';

/** Searches of the questions that the run trains on, by its own tool, and answers in the words of what they showed. */
export const medQuadTeacher: Teach = async (options, _warmUp, count) => {
  const prepared = await prepareOwn(options);
  const { seed } = options;
  const { questions, search, close } = await openQuestions(prepared, 'trainSplit');
  const conversations: (readonly Message[])[] = [];
  const [environment] = prepared.chosen.environments;
  const systemPrompt = environment?.settings['systemPrompt'] as string | undefined;
  try {
    const teacher = { search, systemPrompt };
    for await (const { messages } of retrievalDemonstrations(seed, questions, teacher)) {
      conversations.push(messages);
      if (conversations.length === count) return conversations;
    }
  } finally {
    await close();
  }
  throw new AgentRlError(
    'DATASET_INVALID',
    `${conversations.length} of ${questions.length} questions are answered by what a search for them shows; ${count} are asked for. Lower train.iterations or train.batchSize of the warm-up.`,
  );
};
