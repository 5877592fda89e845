import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { enterPlugin } from '../../agent_rl/core/plugins/entered-plugin.ts';
import { pluginFailure } from '../../agent_rl/core/plugins/plugin-failure.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import type { TaskGenerator } from '../../agent_rl/core/tasks/task-generator.ts';
import type { DatasetProblem } from './dataset-problem.ts';
import type { EndlessTasks } from './plan/endless-plan.ts';
import { taskFormat } from './task-formats.ts';

/** A task generator as a run uses it. */
export interface GeneratedTasks {
  name: string;
  version: number;
  /** How its rows become tasks: the name of a dataset format. */
  format: string;
  /** Seed of the run. */
  seed: number;
  generator: TaskGenerator;
}

/**
 * The training tasks of a generator.
 *
 * @returns tasks that throw when they are made: AgentRlError `DATASET_INVALID` for a row that is no task of the format, or
 * that has the id of another; `PLUGIN_LOAD_FAILED` of what the generator throws.
 */
export function trainingTasks(generated: GeneratedTasks): EndlessTasks {
  const { name, version, seed, generator } = generated;
  const read = rowReader(generated, 'train');
  const indexOf = new Map<string, number>();
  return {
    source: `${name} (version ${version})`,
    taskAt: (index) => {
      const row = running(name, 'train', () => generator.train(seed, index));
      const { taskId, ...task } = read(row, index);
      const before = indexOf.get(taskId) ?? index;
      if (before !== index) throw sameId(name, taskId, [before, index]);
      indexOf.set(taskId, index);
      return { taskId, ...task };
    },
  };
}

/**
 * The tasks that a generator evaluates on.
 *
 * @throws AgentRlError as `trainingTasks` do, and `DATASET_INVALID` without any.
 */
export function evaluationTasks(generated: GeneratedTasks): Task[] {
  const { name, generator } = generated;
  const read = rowReader(generated, 'eval');
  const rows = running(name, 'evaluation', () => [...generator.evaluation()]);
  const tasks = rows.map((row, index) => read(row, index));
  const indexOf = new Map(tasks.map(({ taskId }, index) => [taskId, index]));
  const twice = tasks.findIndex(({ taskId }, index) => indexOf.get(taskId) !== index);
  const { taskId } = tasks[twice] ?? {};
  if (taskId !== undefined) throw sameId(name, taskId, [twice, indexOf.get(taskId) ?? twice]);
  if (tasks.length > 0) return tasks;
  throw new AgentRlError(
    'DATASET_INVALID',
    `The task generator ${name} made no tasks for evaluation; expected at least one row.`,
  );
}

/** Reads a row and its number, from 0, as a line of a file is read. */
function rowReader({ name, format }: GeneratedTasks, split: 'train' | 'eval') {
  const { reader } = taskFormat(format, `taskFormat of the task generator ${name}`);
  const read = reader(`${name}/${split}`);
  return (row: object, index: number): Task => {
    const reading = read(row, index);
    if ('row' in reading) return reading.row;
    throw noTask(reading.problems, `${split} ${index}`, name);
  };
}

function noTask(problems: readonly DatasetProblem[], place: string, name: string): AgentRlError {
  const found = problems.map(({ path, text }) => (path === '' ? text : `${path}: ${text}`));
  return new AgentRlError(
    'DATASET_INVALID',
    `The task generator ${name} made an invalid row (${place}): ${found.join(' ')}`,
  );
}

const sameId = (name: string, id: string, [a, b]: readonly [number, number]): AgentRlError =>
  new AgentRlError(
    'DATASET_INVALID',
    `The task generator ${name} made two tasks with the id ${showValue(id)}, ${a} and ${b}; every task_id must be unique.`,
  );

/** Runs code of a generator. @throws AgentRlError `PLUGIN_LOAD_FAILED` */
function running<Value>(name: string, method: string, work: () => Value): Value {
  const plugin = `task generator "${name}"`;
  enterPlugin(`${plugin} in ${method}`);
  try {
    return work();
  } catch (thrown) {
    if (AgentRlError.is(thrown)) throw thrown;
    const { message } = pluginFailure(plugin, thrown, { method });
    throw new AgentRlError('PLUGIN_LOAD_FAILED', message, { cause: thrown });
  }
}
