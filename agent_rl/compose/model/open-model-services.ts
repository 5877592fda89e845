import { attemptsOf } from '../../config/index.ts';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';

import type { OpenGenerator } from '../../core/plugins/model/generator.ts';
import type { OpenLearner } from '../../core/plugins/model/learner.ts';
import {
  type GenerationTotals,
  type Generator,
  type GeneratorInfo,
  unbiased,
} from '../../core/services/generator.ts';
import type { Learner } from '../../core/services/learner.ts';
import type { Scorer } from '../../core/services/scorer.ts';
import { WeightBus } from '../../core/services/weight-bus.ts';
import type { WeightPublisher } from '../../core/services/weights.ts';
import { abortableStart } from '../../core/stopping/abort.ts';
import type { Cleanup } from '../../core/stopping/cleanup.ts';
import type { EventLog } from '../../core/services/event-log.ts';
import { AgentRlError } from '../../core/errors.ts';
import { enterPlugin } from '../../core/plugins/entered-plugin.ts';
import { builtInSource } from '../../core/plugins/plugin.ts';
import { CheckedGenerator } from '../../generation/checked-generator.ts';
import { RecordingGenerator } from '../../generation/recording/recording-generator.ts';
import type { EngineClient } from '../../engine-thread/engine-client.ts';
import { checkCacheFits } from '../../engine-thread/memory-plan.ts';
import { type FrozenServices, openFrozen } from './open-frozen.ts';
import { engineThreads, trainingLoss } from './open-engine.ts';
import { modelScorer } from './model-scorer.ts';
import { type ModelServicesRequest, RunEngines } from './run-engines.ts';
import { sumOfCounted } from '../../runs/run-usage.ts';
import type { ResolvedRun } from '../resolve-run.ts';

/** What samples tokens and, in training, what learns. */
export interface ModelServices {
  generator: Generator;
  /** Engines of this process behind them. */
  engines: readonly EngineClient[];
  /** What they repaired or skipped. */
  incidents: EventLog<string>;
  /** The frozen models that play agents, by agent. */
  opponents: FrozenServices['opponents'];
  /** Only in training; with a reference where it is not the learner's own. */
  training?: {
    learner: Learner;
    weights: WeightPublisher;
    reference?: Scorer;
    /** All generators; each records what it draws. */
    recordings: readonly RecordingGenerator[];
  };
}

/**
 * Opens the generator and, for training, the learner of a run.
 *
 * @throws AgentRlError for what cannot be opened, or if learner and generator cannot share weights
 */
export async function openModelServices(
  run: ResolvedRun,
  request: ModelServicesRequest,
  opened: Cleanup,
): Promise<ModelServices> {
  const engines = new RunEngines(run, request, opened);
  const { incidents } = request;
  const drawing = opened.add(await openGenerator(run, request, { engines, incidents }));
  const info = await drawing.describe();
  requireContext(info, run.config.policy.maxContextTokens);
  if (!info.reproducible)
    incidents.add(
      `Generator ${info.name} is not reproducible: the same seed may give different results.${request.trains ? ' A resumed run takes earlier samples from its journal.' : ''}`,
    );
  const openFrozenModels = () =>
    openFrozen(run, request.workers, (model, asked) => engines.frozen(model, asked));
  if (!request.trains) {
    const { opponents } = await openFrozenModels();
    return { generator: drawing, engines: engines.all, incidents, opponents };
  }
  const learner = opened.add(await openLearner(run, request, { engines, incidents }));
  const overlaps = run.config.async.lag > 0;
  if (overlaps && learner.keepPublished === undefined)
    incidents.add(
      `Learner ${(await learner.describe()).name} keeps no published weights to score with: with async.lag 1, generator and learner are not compared (parity/* is absent).`,
    );
  const frozen = await openFrozenModels();
  const generator = new RecordingGenerator(drawing);
  const opponents = recorded(frozen.opponents);
  const { reference } = frozen;
  const folder = await mkdtemp(join(tmpdir(), 'agent-rl-weights-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const weights = opened.add(
    await WeightBus.connect({
      learner,
      generators: [generator],
      folder,
      overlaps,
    }),
  );
  return {
    generator,
    engines: engines.all,
    incidents,
    opponents,
    training: {
      learner,
      weights,
      ...(reference && { reference }),
      recordings: [generator, ...new Set(opponents.values())],
    },
  };
}

/** Each generator once, though it may play several agents. */
function recorded(opponents: FrozenServices['opponents']): ReadonlyMap<string, RecordingGenerator> {
  const made = new Map(
    [...new Set(opponents.values())].map((one) => [one, new RecordingGenerator(one)]),
  );
  return new Map([...opponents].map(([agent, one]) => [agent, made.get(one)!]));
}

/** The totals of all generators of a run; null if no generator counts. */
export async function generationTotals({
  generator,
  opponents,
}: Pick<ModelServices, 'generator' | 'opponents'>): Promise<GenerationTotals | null> {
  const all = new Set([generator, ...opponents.values()]);
  const totals = await Promise.all([...all].map(async (one) => (await one.totals?.()) ?? null));
  return totals.reduce(sumOfCounted, null);
}

/** @throws AgentRlError `CONFIG_INVALID` */
function requireContext({ name, maxContextTokens: holds }: GeneratorInfo, asked: number): void {
  if (holds >= asked) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `policy.maxContextTokens is ${asked}, but generator ${name} has a context length of ${holds} tokens. Lower the setting, or raise the generator's context length (agent-rl serve --set policy.maxContextTokens=${asked}).`,
  );
}

async function openGenerator(
  run: ResolvedRun,
  { workers, trains, signal }: ModelServicesRequest,
  { engines, incidents }: { engines: RunEngines; incidents: EventLog<string> },
): Promise<Generator> {
  const { config, chosen, model } = run;
  const { maxContextTokens, sampling } = config.policy;
  const own = chosen.policy.entry.spec.openGenerator;
  const { spec, plugin } = chosen.generator.entry;
  if (own !== undefined || spec.engine === true)
    checkCacheFits(model.description, { workers, maxContextTokens });
  const host = {
    modelFolder: model.folder,
    textFolder: model.textFolder,
    vocabSize: model.description.vocabSize,
    device: config.run.device,
    threads: engineThreads(config),
    maxContextTokens,
    episodes: workers,
    samplings: [
      ...(trains ? [sampling] : []),
      { ...unbiased, temperature: attemptsOf(config.eval).temperature },
    ],
    scorer: modelScorer(run, signal),
    trains,
    adapters: config.model.adapters,
    newAdapter: model.newAdapter !== undefined,
    environment: process.env,
    warn: (text: string) => incidents.add(text),
    signal,
    engine: () => (spec.engine === true ? engines.shared() : refused('generator', spec.name)),
  };
  const { entry, open, called } =
    own === undefined
      ? {
          entry: chosen.generator.entry,
          // By default `engineGenerator` of engine-thread/engine-parts.ts.
          open: () => (plugin as OpenGenerator)(chosen.generator.settings, host),
          called: `Generator "${spec.name}"`,
        }
      : {
          entry: chosen.policy.entry,
          open: () => own(chosen.policy.settings, host),
          called: `The generator of policy "${chosen.policy.entry.spec.name}"`,
        };
  enterPlugin(called);
  const checked = { plugin: called, vocabSize: model.description.vocabSize };
  // Built-in ones are tested against the contract and have their own error messages.
  const opening = entry.source === builtInSource ? open() : CheckedGenerator.open(open, checked);
  return abortableStart(opening, signal, (late) => late.close());
}

async function openLearner(
  { config, chosen, model }: ResolvedRun,
  { signal, imitates }: ModelServicesRequest,
  { engines, incidents }: { engines: RunEngines; incidents: EventLog<string> },
): Promise<Learner> {
  const { spec, plugin } = chosen.learner.entry;
  enterPlugin(`learner "${spec.name}"`);
  // By default `engineLearner` of engine-thread/engine-parts.ts.
  const opening = (plugin as OpenLearner)(chosen.learner.settings, {
    modelFolder: model.folder,
    ...(model.newAdapter && { adapter: model.newAdapter }),
    changesWeights: model.layers.adapters.length > 0 || model.quantize !== undefined,
    maxGradNorm: config.train.maxGradNorm === 0 ? Infinity : config.train.maxGradNorm,
    seed: config.run.seed,
    ...trainingLoss(config, chosen.loss, imitates),
    microBatchTokens: config.algorithm.microBatchTokens,
    environment: process.env,
    warn: (text: string) => incidents.add(text),
    signal,
    engine: (device) => {
      if (device !== undefined) return engines.learning(device);
      return spec.engine === true ? engines.shared() : refused('learner', spec.name);
    },
  });
  return abortableStart(opening, signal, (late) => late.close());
}

function refused(kind: string, name: string): never {
  throw new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `The ${kind} "${name}" uses the engine of this process, but its spec does not declare it. Add engine: true.`,
  );
}
