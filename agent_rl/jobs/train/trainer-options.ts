import {
  algorithmParts,
  distillParts,
  klParts,
  type PartName,
} from '../../compose/plugins/algorithm-parts.ts';
import type { ChosenPlugins } from '../../compose/plugins/choose-plugins.ts';
import { taskReadings } from '../../compose/task-sources.ts';
import { engineThreads } from '../../compose/model/open-engine.ts';
import { AgentRlError } from '../../core/errors.ts';
import { type Config, runLength, samplingOf } from '../../config/index.ts';
import type { GrpoOptions, TrainOptions } from '../../trainer/training-options.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { GeneratorIdentity } from '../../runs/inputs/generators.ts';
import { thisMachine } from '../../runs/inputs/machine.ts';
import type { TaskReading } from '../../runs/inputs/readings.ts';
import type { RunSources } from '../../runs/inputs/run-inputs.ts';
import { foundTools } from '../../runs/inputs/tool-sets.ts';
import type { TrainingOptions } from '../job.ts';
import { splitFiles } from '../../../dataset/tasks/task-files.ts';

/** The part of a config that the trainer of a run of this name follows. */
export function trainerOptions(
  config: Config,
  chosen: Pick<ChosenPlugins, PartName>,
  run: string,
): GrpoOptions {
  const { policy, rollout, checkpoint } = config;
  const { distill, ...algorithm } = config.algorithm;
  return {
    run,
    seed: config.run.seed,
    lag: config.async.lag,
    rollout: { ...rollout, maxTurnTokens: policy.maxTurnTokens, sampling: samplingOf(config) },
    algorithm: {
      ...algorithm,
      ...klParts(algorithm.kl),
      ...distillParts(distill),
      ...algorithmParts(chosen),
    },
    train: trainOptions(config),
    eval: config.eval,
    checkpoint,
  };
}

/** `train:` with the length of this run, and that of the whole it may be the beginning of. */
export function trainOptions(config: Config): TrainOptions {
  const { last, planned } = runLength(config);
  return { ...config.train, iterations: last, plannedIterations: planned };
}

/** What a run starts from. */
export function sourcesOf({
  config,
  chosen,
  model,
  policies,
}: Pick<ResolvedRun, 'config' | 'chosen' | 'model' | 'policies'>): RunSources {
  const { dataset, datasets, run, train } = config;
  // Conversations have one format; supervised training reads tasks only where it evaluates.
  const readsTasks = train.mode === 'rl' || config.eval.every > 0;
  const readings = readsTasks ? taskReadings(config, chosen) : [];
  return {
    seed: run.seed,
    trainFiles: splitFiles(datasets, dataset.trainSplit),
    evalFiles: readsTasks ? splitFiles(datasets, dataset.evalSplit) : [],
    readings: readings.map(readingOf),
    generators: chosen.taskGenerators.flatMap((one, place) =>
      one === undefined ? [] : [identityOf(one, { place, seed: run.seed })],
    ),
    foundTools: foundTools(
      chosen.tools.flatMap(({ set, entry }) => (set === undefined ? [] : [entry.spec])),
    ),
    model: model.layers,
    policies: new Map([...policies].map(([name, one]) => [name, one.model.layers])),
    machine: thisMachine({ device: run.device, engineThreads: engineThreads(config) }),
  };
}

const identityOf = (
  { entry: { spec }, settings }: NonNullable<ChosenPlugins['taskGenerators'][number]>,
  { place, seed }: { place: number; seed: number },
): GeneratorIdentity => {
  const { name, version } = spec;
  return { datasets: place, name, version, settings, seed };
};

/** As JSON has it, which knows no `undefined`. */
const readingOf = ({ format, columns, answerPattern }: TaskReading): TaskReading => ({
  format,
  ...(columns !== undefined && { columns }),
  ...(answerPattern !== undefined && { answerPattern }),
});

/** @throws AgentRlError `CONFIG_INVALID` for a flag that has no effect */
export function refuseIdleFlags(options: TrainingOptions): void {
  const { resume, allowOtherMachine = false, dryRun, measure = false } = options;
  const idle =
    (allowOtherMachine &&
      resume === undefined &&
      '--allow-other-machine (allowOtherMachine) has no effect without --resume.') ||
    (measure &&
      !dryRun &&
      '--measure has no effect without --dry-run; a run estimates its duration after the first iteration.');
  if (idle) throw new AgentRlError('CONFIG_INVALID', `${idle} Give both or neither.`);
}
