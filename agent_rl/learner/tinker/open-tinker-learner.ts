import { type Static, Type } from '../../core/typebox.ts';
import { AgentRlError } from '../../core/errors.ts';
import {
  type AdapterToTrain,
  learner,
  type LearnerHost,
} from '../../core/plugins/model/learner.ts';
import { linearModules } from '../../core/services/linear-module.ts';
import { tinkerSettings } from '../../tinker/tinker-settings.ts';
import { orClosed, TinkerSession } from '../../tinker/tinker-session.ts';
import { describeModel } from '../../../model/weights/open-model.ts';
import { clearPlace, RecoveringModel } from './recovering-model.ts';
import { refused, serviceLoss } from './service-loss.ts';
import { refusedClipping, TinkerLearner } from './tinker-learner.ts';
import { type AdapterAtService, gradNormOf, noStep, type TrainedModel } from './trained-model.ts';
import type { TrainDatum } from '../../core/services/batch.ts';
import { type Reduction, serviceBatches } from './service-data.ts';

const Settings = Type.Object({
  ...tinkerSettings,
  reduction: Type.Enum(['detect', 'sum', 'sequence-mean'], {
    description:
      'How the service adds up the loss. sum: over all tokens. sequence-mean: averaged over the tokens of each sequence, then over the sequences. detect: finds out which by means of a temporary model',
    default: 'detect',
  }),
  fewShapes: Type.Boolean({
    description:
      'Pad sequences and batches to a few sizes, for a service that compiles each size; otherwise only tokens of episodes are sent',
    default: true,
  }),
});
type Settings = Static<typeof Settings>;

/** Learns at a Tinker service. @throws AgentRlError `CONFIG_INVALID` for what it cannot learn */
export const tinkerLearner = learner({
  name: 'tinker',
  description:
    'Trains an adapter (model.lora) on a service that offers the Tinker protocol, such as SkyRL.',
  settings: Settings,
  elsewhere: true,
})(async (settings: Settings, host) => {
  const { environment, warn, signal, seed, microBatchTokens } = host;
  const wanted = requireLearnable(host);
  const user = { block: 'learner', code: 'LEARNING_FAILED', requests: 4 } as const;
  const session = await TinkerSession.open(settings, { ...user, environment, warn, signal });
  return orClosed('learner', session, async () => {
    const { rank } = wanted;
    const reduction = await clearPlace(session, { rank, seed }, async (tried) =>
      settings.reduction === 'detect' ? findReduction(tried) : settings.reduction,
    );
    const newAdapter = { ...wanted, seed };
    const { config, layers } = await describeModel({ folder: host.modelFolder, newAdapter });
    const create = () => RecoveringModel.create(session, { rank, seed });
    const model = await create();
    requireSameAdapter(model.adapter, wanted);
    return new TinkerLearner({
      session,
      model,
      config,
      adapter: config.adapters!.at(-1)!,
      baseModel: layers.base,
      reduction,
      microBatchTokens,
      pads: settings.fewShapes,
      openReference: create,
    });
  });
});

/** @throws AgentRlError `CONFIG_INVALID` for what no service does, and what would be dropped in silence */
function requireLearnable({
  adapter,
  changesWeights,
  loss,
  maxGradNorm,
}: LearnerHost): AdapterToTrain {
  serviceLoss(loss);
  if (maxGradNorm !== Infinity) throw refusedClipping(maxGradNorm);
  if (adapter === undefined)
    throw refused(
      'The whole model',
      'the service trains only adapters. Configure an adapter with model.lora',
    );
  if (changesWeights)
    throw refused(
      'A model with model.adapters or model.quantize',
      'the service has its own copy of the model. Remove these settings',
    );
  if (adapter.dropout > 0)
    throw refused(
      'model.lora.dropout',
      'adapters of the service have no dropout. Set model.lora.dropout to 0',
    );
  if (adapter.rankStabilised)
    throw refused(
      'model.lora.rankStabilised',
      'the service scales adapters by alpha / rank. Set model.lora.rankStabilised to false',
    );
  return adapter;
}

/** @throws AgentRlError `CONFIG_INVALID` where the service has made another adapter than the run has */
function requireSameAdapter(
  made: AdapterAtService,
  { rank, alpha, targets }: AdapterToTrain,
): void {
  const trained = linearModules.filter((module) =>
    module.startsWith('self_attn.') ? made.attention : made.mlp,
  );
  const problem =
    made.rank !== rank
      ? `rank ${made.rank}, but model.lora.rank is ${rank}`
      : Number.isFinite(made.alpha) && made.alpha !== alpha
        ? `alpha ${made.alpha}, but model.lora.alpha is ${alpha}`
        : made.unembed
          ? 'an adapter on the output head, which model.lora does not have'
          : trained.join() !== targets.join()
            ? `adapters on ${trained.join(', ')}, but model.lora.targets has ${targets.join(', ')}`
            : undefined;
  if (problem === undefined) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `learner: the service creates adapters with ${problem}. Change model.lora to match the service.`,
  );
}

const loss = serviceLoss({ name: 'cross_entropy' });
/** Largest ratio of two norms that pass for one, less 1. */
const tolerance = 1e-2;

/** A few tokens, of which some are trained. */
const sequence = (length: number, trained: readonly number[]): TrainDatum => ({
  tokens: Int32Array.from({ length }, (_, place) => (7 * place) % 11),
  weights: new Float32Array(length).map((_, place) => Number(trained.includes(place))),
  advantages: new Float32Array(length).fill(1),
  oldLogProbs: new Float32Array(length),
});

/** The same tokens of one sequence, and of two of other lengths that begin as it does. */
const inOne = [sequence(9, [1, 2, 3, 4, 5])];
const inTwo = [sequence(13, [1, 2]), sequence(7, [3, 4, 5])];

/**
 * What the service takes the gradient of, found on a model that nothing else is asked of: the same tokens must have the same
 * gradient however they are put into sequences. The protocol's documents say sums, and some services take means.
 *
 * @throws AgentRlError `CONFIG_INVALID` for one that does neither, and for one that does not say how large a gradient is
 */
async function findReduction(model: TrainedModel): Promise<Reduction> {
  const tried: string[] = [];
  for (const reduction of ['sum', 'sequence-mean'] as const) {
    const norms: number[] = [];
    for (const data of [inOne, inTwo]) norms.push(await normOf(model, data, reduction));
    const [one = 0, two = 0] = norms;
    if (one > 0 && Math.abs(two / one - 1) < tolerance) return reduction;
    tried.push(`${reduction}: ${norms.join(' and ')}`);
  }
  throw refused(
    'The loss of this run',
    `for the same tokens, the gradient norm changes with how the tokens are divided into sequences, whether the loss is taken as a sum over tokens or as a mean over sequences (${tried.join('; ')}). Use another service`,
  );
}

async function normOf(
  model: TrainedModel,
  sequences: readonly TrainDatum[],
  reduction: Reduction,
): Promise<number> {
  const { batches } = serviceBatches(sequences, { microBatchTokens: 1024, reduction, pads: true });
  for (const { data } of batches) await model.pass({ data, loss });
  const norm = gradNormOf(await model.optimStep(noStep));
  if (norm !== undefined) return norm;
  throw refused(
    'The loss of this run',
    'the service does not report gradient norms, so agent_rl cannot detect how the service adds up the loss. Set learner.reduction to sum, as in the protocol, or to sequence-mean if the documentation of the service says so',
  );
}
