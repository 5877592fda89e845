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
import type { Learner, ListingLearner } from '../../core/services/learner.ts';
import { type Scorer, scorerOf } from '../../core/services/scorer.ts';
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
import { engineThreads, trainingLoss } from './open-engine.ts';
import { modelScorer } from './model-scorer.ts';
import { type ModelServicesRequest, PolicyEngines, type PolicyOf } from './policy-engines.ts';
import { withSetting } from './resolved-policy.ts';
import { sumOfCounted } from '../../runs/run-usage.ts';
import type { ResolvedRun } from '../resolve-run.ts';

/** What samples and learns the tokens of one policy. */
export interface PolicyServices {
  generator: Generator;
  /** Log-probabilities of its weights, which never change; only of a reference or a teacher. */
  scorer?: Scorer | undefined;
  /** Only of a policy that is trained. */
  training?: { learner: Learner; weights: WeightPublisher } | undefined;
}

/** What samples tokens and, in training, what learns. */
export interface ModelServices extends PolicyServices {
  /** The named policies, which play or score beside it. */
  others: ReadonlyMap<string, PolicyServices>;
  /** Engines of this process behind all of them. */
  engines: readonly EngineClient[];
  /** What they repaired or skipped. */
  incidents: EventLog<string>;
  /** The generators of all policies in training; each records what it draws. */
  recordings: readonly RecordingGenerator[];
}

/**
 * Opens the generators and, for training, the learners of a run's policies: one after another, so that a policy that does
 * not fit in the remaining memory is refused.
 *
 * @throws AgentRlError for what cannot be opened, or if learner and generator cannot share weights; of a named policy it
 * begins with `policies.NAME`
 */
export async function openModelServices(
  run: ResolvedRun,
  request: ModelServicesRequest,
  opened: Cleanup,
): Promise<ModelServices> {
  const engines: EngineClient[] = [];
  const { incidents } = request;
  const top = { ...run, learns: true, plays: true };
  const own = await openPolicy(top, request, opened, engines);
  const others = new Map<string, PolicyServices>();
  const { kl, distill } = run.config.algorithm;
  for (const [name, policy] of run.policies) {
    const plays = run.config.agents.some((agent) => agent.policy === name);
    const scores = request.trains && [kl.reference, distill.teacher].includes(name);
    const lists = !scores ? undefined : name === distill.teacher ? distill.topK : 0;
    const learns = policy.learns && request.imitates === undefined;
    const opening = () => openPolicy({ ...policy, learns, plays, lists }, request, opened, engines);
    others.set(name, await withSetting(`policies.${name}`, opening));
  }
  const generators = [own, ...others.values()].map(({ generator }) => generator);
  const recordings = generators.filter((one) => one instanceof RecordingGenerator);
  return { ...own, others, engines, incidents, recordings };
}

async function openPolicy(
  policy: PolicyOf,
  asked: ModelServicesRequest,
  opened: Cleanup,
  all: EngineClient[],
): Promise<PolicyServices> {
  const { config, lists, learns } = policy;
  const { incidents } = asked;
  const trains = asked.trains && learns;
  const request = { ...asked, trains, samples: asked.trains };
  const engines = new PolicyEngines(policy, request, opened, all);
  const drawing = opened.add(await openGenerator(policy, request, { engines, incidents }));
  const info = await drawing.describe();
  if (policy.plays) requireContext(info, config.policy.maxContextTokens);
  if (!info.reproducible)
    incidents.add(
      `Generator ${info.name} is not reproducible: the same seed may give different results.${trains ? ' A resumed run takes earlier samples from its journal.' : ''}`,
    );
  const scorer = lists === undefined ? undefined : await scorerOfPolicy(policy, drawing, engines);
  const generator = asked.trains ? new RecordingGenerator(drawing) : drawing;
  if (!trains) return { generator, scorer };
  const learner = opened.add(await openLearner(policy, request, { engines, incidents }));
  const { hint, teacher, topK } = config.algorithm.distill;
  if (hint !== undefined && teacher === undefined) requireLists(topK, policy, learner);
  const overlaps = config.async.lag > 0;
  if (overlaps && learner.keepPublished === undefined)
    incidents.add(
      `Learner ${(await learner.describe()).name} keeps no published weights to score with: with async.lag 1, generator and learner are not compared (parity/* is absent).`,
    );
  const folder = await mkdtemp(join(tmpdir(), 'agent-rl-weights-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const bus = { learner, generators: [generator], folder, overlaps };
  const weights = opened.add(await WeightBus.connect(bus));
  return { generator, scorer, training: { learner, weights } };
}

/** @throws AgentRlError `CONFIG_INVALID` for more tokens than there are, or a learner that cannot list the likeliest */
function requireLists(
  topK: number,
  { model }: Pick<PolicyOf, 'model'>,
  learner?: Learner & Partial<ListingLearner>,
): void {
  const { vocabSize } = model.description;
  const lacks =
    topK > vocabSize
      ? `the teacher has ${vocabSize} tokens`
      : topK > 0 && learner !== undefined && learner.forwardTop === undefined
        ? 'the learner cannot list the likeliest tokens. Use 0'
        : undefined;
  if (lacks === undefined) return;
  throw new AgentRlError('CONFIG_INVALID', `algorithm.distill.topK is ${topK}, but ${lacks}.`);
}

/** @throws AgentRlError `CONFIG_INVALID` for a generator elsewhere that cannot score as the run needs it */
async function scorerOfPolicy(
  { config, chosen, model, lists = 0 }: PolicyOf,
  generator: Generator,
  engines: PolicyEngines,
): Promise<Scorer> {
  const { spec } = chosen.generator.entry;
  requireLists(lists, { model });
  const own = chosen.policy.entry.spec;
  if (own.openGenerator !== undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `policy ${own.name} has its own generator, which cannot score given tokens. Use minimind or huggingface.`,
    );
  if (spec.engine === true) return scorerOf((await engines.shared()).learner);
  const { score, scoreTop } = generator;
  const { temperature } = config.policy.sampling;
  const lacks =
    score === undefined || (lists > 0 && scoreTop === undefined)
      ? `cannot ${lists > 0 ? 'list the likeliest tokens of' : 'score'} given tokens. Use vllm, openai or engine`
      : temperature !== 1
        ? `scores given tokens at temperature 1, but policy.sampling.temperature is ${temperature}. Use 1, or a model in a folder`
        : undefined;
  if (lacks !== undefined)
    throw new AgentRlError('CONFIG_INVALID', `generator "${spec.name}" ${lacks}.`);
  return generator as Generator & Scorer;
}

/** The totals of all generators of a run; null if no generator counts. */
export async function generationTotals({
  generator,
  others,
}: Pick<ModelServices, 'generator' | 'others'>): Promise<GenerationTotals | null> {
  const all = [generator, ...[...others.values()].map((one) => one.generator)];
  const totals = await Promise.all(all.map(async (one) => (await one.totals?.()) ?? null));
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
  policy: PolicyOf,
  { workers, trains, samples, signal }: ModelServicesRequest & { samples: boolean },
  { engines, incidents }: { engines: PolicyEngines; incidents: EventLog<string> },
): Promise<Generator> {
  const { config, chosen, model } = policy;
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
    // One that only scores may be served in a way that would not do to sample.
    samplings: !policy.plays
      ? []
      : [
          ...(samples ? [sampling] : []),
          { ...unbiased, temperature: attemptsOf(config.eval).temperature },
        ],
    scorer: modelScorer(policy, signal),
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
  { config, chosen, model }: PolicyOf,
  { signal, imitates }: ModelServicesRequest,
  { engines, incidents }: { engines: PolicyEngines; incidents: EventLog<string> },
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
