import { AgentRlError } from '../core/errors.ts';
import type { Task } from '../core/tasks/task.ts';
import type { TaskSet } from '../../dataset/tasks/task-sets.ts';
import type { ChosenEnvironment, ChosenPlugins } from './plugins/choose-plugins.ts';

type Environments = ChosenPlugins['environments'];

/** The environment that a task is for. */
export const environmentOf = (
  environments: Environments,
  { environment }: Task,
): ChosenEnvironment | undefined =>
  environments.length === 1
    ? environments[0]
    : environments.find(({ name }) => name === environment);

/** A task with its environment if the run has several: from the task's metadata, or from its folder. */
export function withEnvironment(task: Task, environments: Environments, ofFolder?: string): Task {
  if (environments.length === 1) return task;
  const { environment: own } = task.metadata;
  const environment = typeof own === 'string' ? own : ofFolder;
  return environment === undefined ? task : { ...task, environment };
}

const mostShown = 5;

/** @throws AgentRlError `DATASET_INVALID` for tasks without an environment, or that their environment cannot judge */
export function rejectUnplayable(
  sets: readonly Pick<TaskSet, 'tasks' | 'places'>[],
  environments: Environments,
): void {
  const problems = sets.flatMap(({ tasks, places }) =>
    tasks.flatMap((task) => {
      const problem = problemOf(task, environments);
      const place = places?.get(task.taskId);
      const named = `${place === undefined ? '' : `${place} `}Task ${JSON.stringify(task.taskId)}`;
      return problem === undefined ? [] : [`${named}: ${problem}`];
    }),
  );
  if (problems.length === 0) return;
  const more = problems.length > mostShown ? ['…'] : [];
  const shown = [...problems.slice(0, mostShown), ...more].join('\n  ');
  throw new AgentRlError(
    'DATASET_INVALID',
    `${problems.length} of ${sets.flatMap(({ tasks }) => tasks).length} tasks cannot be judged:\n  ${shown}`,
  );
}

function problemOf(task: Task, environments: Environments): string | undefined {
  const chosen = environmentOf(environments, task);
  if (chosen !== undefined) return chosen.entry.spec.taskProblem?.(task, chosen.settings);
  const named =
    task.environment === undefined
      ? 'it has no environment'
      : `the run has no environment ${JSON.stringify(task.environment)}`;
  const known = environments.map(({ name }) => name).join(', ');
  return `${named}. Name an environment for the folder (datasets: [{dir, environment}]) or for the task (metadata.environment). Environments: ${known}.`;
}
