import type { TSchema } from 'typebox';

import type { Class } from '../plugins/given.ts';
import { PluginKind } from '../plugins/plugin.ts';
import { fieldRules } from '../plugins/plugin-rules.ts';

/**
 * Generates the tasks of a run instead of files: training tasks from keys, endlessly, and a fixed evaluation. A row is
 * plain JSON, like a line of a task file in the format of its spec.
 *
 * Created once per run with `constructor({ settings })`.
 */
export interface TaskGenerator {
  /**
   * A training task. It only depends on the settings, the seed and the index. Ids are unique within a seed, and no
   * training task has the id or the prompt of an evaluation task.
   *
   * @param index an integer from 0 to 2^53 - 1; not every index is requested
   */
  train(seed: number, index: number): object;
  /** The evaluation tasks: the same in every run with these settings, whatever its seed. */
  evaluation(): Iterable<object>;
}

export interface TaskGeneratorSpec {
  readonly name: string;
  readonly description: string;
  /**
   * An integer that changes whenever the same settings and seed give other tasks: a run can only be resumed with the
   * same version.
   */
  readonly version: number;
  /** How a row becomes a task: the name of a dataset format, such as `question` or `plain`. */
  readonly taskFormat: string;
  /** Schema of the generator's own settings in YAML. */
  readonly settings?: TSchema;
}

export const taskGenerators = new PluginKind<TaskGeneratorSpec, TaskGenerator>('task generator', {
  methods: ['train', 'evaluation'],
  fields: {
    version: fieldRules.version,
    taskFormat: fieldRules.text,
  },
});

/**
 * Marks a class as a task generator.
 *
 * @example @taskGenerator({ name: 'sums', description: '…', version: 1, taskFormat: 'question' })
 */
export const taskGenerator = (spec: TaskGeneratorSpec) =>
  taskGenerators.mark<Class<TaskGenerator>>(spec);
