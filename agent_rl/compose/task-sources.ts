import { dirname } from 'node:path';

import type { Config } from '../config/index.ts';
import type { TaskGenerator } from '../core/tasks/task-generator.ts';
import type { TaskReading } from '../runs/inputs/readings.ts';
import { splitFile } from '../../dataset/tasks/task-files.ts';
import type { TaskSource } from '../../dataset/tasks/task-sets.ts';
import type { ChosenPlugins } from './plugins/choose-plugins.ts';
import { construct, runContainer } from './plugins/container.ts';

type Chosen = Pick<ChosenPlugins, 'environments' | 'taskGenerators'>;

/**
 * The sources of a config's tasks.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` for a generator that cannot be created
 */
export function taskSources(
  config: Pick<Config, 'datasets' | 'run'>,
  chosen: Chosen,
): TaskSource[] {
  const readings = taskReadings(config, chosen);
  return config.datasets.map(({ dir, weight }, index) => {
    const reading = readings[index]!;
    const made = chosen.taskGenerators[index];
    // Of a checked config, one of the two is there.
    if (made === undefined) return { dir: dir ?? '', weight, ...reading };
    const { name, version } = made.entry.spec;
    const generator = construct<TaskGenerator>(runContainer(), made);
    return { name, version, weight, ...reading, seed: config.run.seed, generator };
  });
}

/** How each source's rows become tasks: a folder's own format or its environment's; a generator's format. */
export const taskReadings = (
  { datasets }: Pick<Config, 'datasets'>,
  { environments, taskGenerators }: Chosen,
): TaskReading[] =>
  datasets.map(({ format, columns, answerPattern, environment }, index) => {
    const generator = taskGenerators[index];
    if (generator !== undefined) return { format: generator.entry.spec.taskFormat };
    return { format: format ?? formatOf(environments, environment), columns, answerPattern };
  });

/** The format of a folder's environment; without one all have the same format, see `choosePlugins`. */
function formatOf(environments: Chosen['environments'], name?: string): string {
  const [first] = environments;
  const named = environments.find((one) => one.name === name) ?? first;
  return named?.entry.spec.taskFormat ?? '';
}

/** Where the training split of a folder of tasks was found. Absolute. */
export const datasetFolder = (
  dir: string,
  { trainSplit }: Pick<Config['dataset'], 'trainSplit'>,
): string => dirname(splitFile(dir, trainSplit));
