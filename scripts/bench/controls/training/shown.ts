import type { PreparedRun } from '../../../../agent_rl/compose/prepare-run.ts';
import type { Message } from '../../../../agent_rl/core/message.ts';
import type { CodeTask } from '../../../../agent_rl/core/tasks/code-task.ts';
import { referenceDemonstration } from '../../../../dataset/demonstrations/reference-demonstrations.ts';
import type { QuestionTask } from '../../../../agent_rl/core/tasks/question-task.ts';
import {
  rightConversations,
  teacherConversations,
} from '../../../starter-model/teacher-conversations.ts';
import type { SeedOptions } from '../seed.ts';
import { environmentsOf, runTasks } from '../tasks/run-tasks.ts';

/** What a supervised control learns from. */
export interface Shown {
  /** Folder under that of the seed. */
  name: string;
  /** The first `count` conversations, as the run file of the warm-up shows them. */
  conversations: (count: number, warmUp: PreparedRun) => Promise<readonly (readonly Message[])[]>;
}

/** Far from the seeds that warm-ups are made with. */
const freshSeed = ({ seed }: SeedOptions): number => 7_000_000 + seed * 2;

/** More of the same unreliable teacher, on fresh questions of the warm-up. */
export const moreWarmUp = (options: SeedOptions): Shown => ({
  name: 'more-warm-up',
  conversations: (count, warmUp) => teacherConversations(warmUp, freshSeed(options), count),
});

/** No slips, on the tasks that the run draws and would go on to draw: the teacher, or references of programs; `search` on fresh questions of the warm-up. */
export const rightDemonstrations = (options: SeedOptions): Shown => ({
  name: 'right-demonstrations',
  conversations: async (count, warmUp) => {
    const seed = freshSeed(options);
    const [environment] = await environmentsOf(options);
    if (environment === 'search')
      return teacherConversations(warmUp, seed, count, { reliable: true });
    const { drawn } = await runTasks(options);
    const tasks = drawn(count);
    return environment === 'workspace'
      ? rightConversations(warmUp.loaded.config, seed, tasks as readonly QuestionTask[])
      : (tasks as readonly CodeTask[]).map(referenceDemonstration);
  },
});
