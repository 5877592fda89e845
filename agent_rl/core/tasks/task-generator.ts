import type { TSchema } from 'typebox';

import type { Class } from '../plugins/given.ts';
import { PluginKind } from '../plugins/plugin.ts';
import { fieldRules } from '../plugins/plugin-rules.ts';

/**
 * Makes the tasks of a run in place of files: those it trains on from keys, without end, and a fixed evaluation. A row is
 * what a line of a task file in the format of its spec is, plain JSON.
 *
 * Made once for a run, with its settings; `constructor({ settings })`.
 */
export interface TaskGenerator {
  /**
   * A training task. It depends on the settings, the seed and the index alone, whatever was made before. Of one seed no two
   * have the same id, and none has the id or the prompt of one of the evaluation.
   *
   * @param index a whole number from 0 to 2^53 - 1; not all are asked for
   */
  train(seed: number, index: number): object;
  /** The tasks that are evaluated on: the same in every run with these settings, whatever its seed. */
  evaluation(): Iterable<object>;
}

export interface TaskGeneratorSpec {
  readonly name: string;
  readonly description: string;
  /**
   * A whole number, another one wherever the same settings and seed give other tasks: a run is only resumed with the
   * version that it began with.
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
