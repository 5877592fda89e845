import type { QuestionTask } from '../../../../agent_rl/core/tasks/question-task.ts';
import type { Task } from '../../../../agent_rl/core/tasks/task.ts';
import type { WorkspaceSettings } from '../../../../agent_rl/environments/workspace/settings.ts';
import { WorkspaceEnv } from '../../../../agent_rl/environments/workspace/workspace-env.ts';
import {
  successRateOf,
  type SuccessRate,
  type TaskAttempts,
} from '../../../../agent_rl/trainer/success-rate.ts';
import { reportGroups } from '../../../../dataset/tasks/task-sets.ts';
import { bestConstants } from './best-constants.ts';
import type { SeedOptions } from '../seed.ts';
import { runTasks } from './run-tasks.ts';

/** How often a table from families of tasks to constant answers is right; `null` in jobs not judged by their final message. */
export async function tableWithoutModel(options: SeedOptions): Promise<
  | (SuccessRate & {
      groups: Readonly<Record<string, SuccessRate>>;
      perTask: readonly TaskAttempts[];
    })
  | null
> {
  const { prepared, trained, evaluation } = await runTasks(options);
  const [environment, ...others] = prepared.chosen.environments;
  if (environment?.entry.spec.name !== 'workspace' || others.length > 0) return null;
  const settings = environment.settings as WorkspaceSettings;
  const pays = async (task: Task, answer: string): Promise<boolean> => {
    const env = new WorkspaceEnv({ task: task as QuestionTask, settings });
    await env.start();
    const message = { role: 'assistant', content: `It is ${answer}.` } as const;
    await env.step({ index: 0, message, calls: [] });
    return (await env.finish('done')).success;
  };
  const answerTo = await bestConstants(trained, pays);
  const perTask: TaskAttempts[] = [];
  for (const task of evaluation) {
    const { slice, family } = task.metadata;
    perTask.push({
      taskId: task.taskId,
      n: 1,
      successes: (await pays(task, answerTo(task))) ? 1 : 0,
      failed: 0,
      groups: reportGroups(task),
      ofSlice: typeof slice === 'string',
      family: typeof family === 'string' ? family : undefined,
    });
  }
  const { seed } = options;
  const names = [...new Set(perTask.flatMap(({ groups }) => groups))];
  return {
    ...successRateOf(
      perTask.filter(({ ofSlice }) => !ofSlice),
      { seed, of: 'table' },
    ),
    groups: Object.fromEntries(
      names.map((name) => [
        name,
        successRateOf(
          perTask.filter(({ groups }) => groups.includes(name)),
          { seed, of: `table, ${name}` },
        ),
      ]),
    ),
    perTask,
  };
}
