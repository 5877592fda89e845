import { findLoss, type FoundLoss } from '../algorithms/losses/find-loss.ts';
import { crossEntropyLoss, policyLoss } from '../algorithms/policy-loss.ts';
import type { LossSpec, PolicyLossSpec } from '../core/services/learner.ts';
import {
  float,
  type Engine,
  type SizedBody,
  type SizedProgram,
  type TensorData,
  type TensorSpec,
} from '../engine/engine.ts';
import {
  tf,
  tokenDistribution,
  tokenLogProbs,
  tokensOfBlock,
  topTokens,
  type Tensor,
} from '../engine/ops.ts';
import { decoderHidden, sequenceInputs } from '../../model/decoder/decoder.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import {
  allSpecs,
  dropoutParameter,
  trainedAdapter,
  trainedSpecs,
} from '../../model/adapters/adapter.ts';
import { headName, inputSpec, linearShapes, parameter } from '../../model/config/parameters.ts';
import { type BatchKind, type BatchShape, kindOf, openSizesOf, shapeAt } from './batch-shape.ts';
import type { ProgramMemory } from './train-batch.ts';

/** Prefix of the outputs that are gradients, followed by the parameter's name. */
export const gradientPrefix = 'gradient:';
/** Prefix of the outputs that are weighted sums over trained tokens. */
export const sumPrefix = 'sum:';

type Tensors = Readonly<Record<string, Tensor>>;

/** Layers kept whole, and a quarter of a gibibyte of logits. */
export const noRecompute: ProgramMemory = { recompute: 'none', logitBytes: 2 ** 28 };

/** The number of predictions whose logits are held at once: all, where the loss has a gradient of the entropy. */
export const rowsAtOnce = (
  { logitBytes }: ProgramMemory,
  { vocabSize }: ModelConfig,
  loss?: LossSpec,
): number => (hasEntropyGradient(loss) ? Infinity : Math.floor(logitBytes / (4 * vocabSize)));

const hasEntropyGradient = (loss: LossSpec | undefined): boolean =>
  loss?.name === 'policy' && (loss.entropyBonus ?? 0) !== 0;

interface Prediction {
  temperature: number;
  memory: ProgramMemory;
  kind: BatchKind;
  entropyGradient?: boolean;
  /** How many of the likeliest tokens are wanted in each place; none by default. */
  topK?: number;
}

/** Log-probabilities and entropies of the trained tokens only: the head is never applied to the rest. */
function trainedLogProbs(
  config: ModelConfig,
  parameters: Tensors,
  inputs: Tensors,
  { temperature, memory, kind, entropyGradient = false, topK = 0 }: Prediction,
) {
  const trained = trainedSpecs(config).map(({ name }) => name);
  const recompute = memory.recompute === 'blocks' ? new Set(trained) : undefined;
  const sequences = { ...sequenceInputs(inputs), whole: kind.length === undefined };
  const hidden = decoderHidden(config, parameters, sequences, recompute);
  const rows = tf.gather(hidden, inputs['rows'] as Tensor); // [N, D]
  const head = parameter(parameters, headName(config));
  const targets = inputs['targets'] as Tensor;
  const predicted = entropyGradient
    ? tokenDistribution(rows, head, targets, temperature)
    : tokenLogProbs(rows, head, targets, {
        temperature,
        pieces: kind.pieces,
        frozenHead: trainedAdapter(config) !== undefined,
      });
  const predictions = inputs['predictions'];
  const entries = (made: Tensor): Tensor =>
    predictions === undefined ? made : tf.gather(made, predictions);
  const logProbs = entries(predicted.logProbs);
  const top = topK > 0 && topTokens(rows, head, { temperature, pieces: kind.pieces, k: topK });
  const ids = inputs[teacherInputs.ids];
  return {
    logProbs,
    entropy: entries(predicted.entropy),
    ...(top && { top: { topIds: entries(top.ids), topLogProbs: entries(top.logProbs) } }),
    ofTeacher:
      ids &&
      tf.add(
        tf.expandDims(logProbs, 1),
        logitsAbove(entries(targets), ids, { rows: tf.div(entries(rows), temperature), head }),
      ),
  };
}

/** The logits of tokens [N, k] less the logit of the target [N] in the same place. [N, k] */
function logitsAbove(
  targets: Tensor,
  tokens: Tensor,
  { rows, head }: { rows: Tensor; head: Tensor },
): Tensor {
  const states = tf.expandDims(rows, 1); // [N, 1, D]
  const logits = (of: Tensor): Tensor => tf.matMul(states, tf.gather(head, of), false, true);
  const above = tf.sub(logits(tokens), logits(tf.expandDims(targets, 1))); // [N, 1, k]
  return tf.reshape(above, [-1, tokens.shape[1]!]);
}

/** Inputs besides the weights. */
function batchSpecs(
  config: ModelConfig,
  { sequences, length, trained, trees }: BatchShape,
): TensorSpec[] {
  return [
    { name: 'tokens', shape: [sequences, length], dtype: 'int32' },
    float('cos', [length, config.headDim]),
    float('sin', [length, config.headDim]),
    { name: 'seenUpTo', shape: [1, length], dtype: 'int32' },
    { name: 'rows', shape: [trained], dtype: 'int32' },
    { name: 'targets', shape: [trained], dtype: 'int32' },
    ...(trees === undefined ? [] : treeSpecs(length, trees)),
  ];
}

const treeSpecs = (
  length: number,
  { trained, keys }: NonNullable<BatchShape['trees']>,
): TensorSpec[] =>
  Object.entries({
    places: [1, length],
    predictions: [trained],
    keys: [length / tokensOfBlock, keys],
    keyCounts: [length / tokensOfBlock],
    stillOpen: [length / tokensOfBlock],
    lastFirst: [length / tokensOfBlock],
  }).map(([name, shape]) => ({ name, shape, dtype: 'int32' }));

const weightSpecs = (config: ModelConfig): TensorSpec[] => allSpecs(config).map(inputSpec);

/** The inputs of the trained adapter's layers that are kept, and by what factor; none without dropout. */
export function dropoutSpecs(
  config: ModelConfig,
  { sequences, length }: Pick<BatchShape, 'sequences' | 'length'>,
): readonly TensorSpec[] {
  const adapter = trainedAdapter(config);
  if (adapter === undefined || adapter.dropout === 0) return [];
  const shapes = linearShapes(config);
  return Array.from({ length: config.layers }, (_, layer) =>
    adapter.targets.map((module) =>
      float(dropoutParameter(adapter, layer, module), [sequences * length, shapes[module][1]]),
    ),
  ).flat();
}

export interface TrainProgramOptions {
  loss: LossSpec;
  memory: ProgramMemory;
}

interface CompiledFor {
  kind: BatchKind;
  /** Weights that stay as they are: the program holds them, and is given the others. */
  held?: Readonly<Record<string, TensorData>>;
}

/** Forward, loss and the gradient of everything that is trained, of micro-batches of one kind. @throws AgentRlError `PLUGIN_LOAD_FAILED` for its loss */
export async function compileTrainProgram(
  engine: Engine,
  config: ModelConfig,
  { kind, held = {}, ...options }: TrainProgramOptions & CompiledFor,
): Promise<SizedProgram> {
  const own = await ownLoss(options.loss);
  return engine.compileSized(
    (sizes) => trainingBody(config, { ...options, own, kind, shape: shapeAt(kind, sizes) }),
    openSizesOf(kind, { perSequence: isPerSequence(own) }),
    {
      keepRecomputation: options.memory.recompute === 'blocks',
      manyRows: true,
      constants: held,
      name: `training on ${kind.hasTrees ? 'trees' : 'sequences'}`,
      runName: (sizes) => `training on ${shapeText(shapeAt(kind, sizes))}`,
    },
  );
}

/** The same at one shape; for plans. */
export async function trainBody(
  config: ModelConfig,
  { shape, ...options }: TrainProgramOptions & { shape: BatchShape },
): Promise<SizedBody> {
  const kind = kindOf(shape, rowsAtOnce(options.memory, config, options.loss));
  return trainingBody(config, { ...options, own: await ownLoss(options.loss), kind, shape });
}

interface TrainingBodyOptions extends TrainProgramOptions {
  kind: BatchKind;
  shape: BatchShape;
  own: OwnLoss | undefined;
}

function trainingBody(
  config: ModelConfig,
  { kind, shape, loss, own, memory }: TrainingBodyOptions,
): SizedBody {
  const trained = trainedSpecs(config);
  const sequences = shape.trees ?? shape;
  const specs = [
    ...weightSpecs(config),
    ...dropoutSpecs(config, shape),
    ...batchSpecs(config, shape),
    ...lossInputs(loss).map((name) => float(name, [sequences.trained])),
    ...(isPerSequence(own)
      ? [float(membershipInput, [sequences.sequences, sequences.trained])]
      : []),
    ...teacherSpecs(sequences.trained, loss),
  ];
  const body = (inputs: Record<string, Tensor>): Record<string, Tensor> => {
    const outputs: Record<string, Tensor> = {};
    const lossOf = (...values: Tensor[]): Tensor => {
      const changed = trained.map(({ name }, i) => [name, values[i] as Tensor]);
      const parameters = { ...inputs, ...Object.fromEntries(changed) };
      const options = { own, memory, kind };
      const { total, logProbs, sums } = tokenLoss(config, parameters, inputs, options);
      // What leaves the differentiated function besides its value would be disposed with its scope.
      outputs['logProbs'] = tf.keep(logProbs);
      outputs['loss'] = tf.keep(total);
      for (const [name, sum] of Object.entries(sums)) outputs[`${sumPrefix}${name}`] = tf.keep(sum);
      return total;
    };
    const gradients = tf.grads(lossOf)(trained.map(({ name }) => inputs[name] as Tensor));
    for (const [i, { name }] of trained.entries())
      outputs[`${gradientPrefix}${name}`] = gradients[i] as Tensor;
    return outputs;
  };
  return { specs, body };
}

const shapeText = ({ sequences, length, trees }: BatchShape): string =>
  trees === undefined ? `${sequences} sequences of ${length} tokens` : `trees of ${length} tokens`;

const usesReference = (loss: LossSpec): boolean =>
  loss.name === 'policy' && loss.kl.kind !== 'none';

/** Which token is of which sequence, for a loss per sequence. */
export const membershipInput = 'membership';

/** The inputs of a loss besides the tokens, one number per trained token. */
export const lossInputs = (loss: LossSpec) => {
  const names = ['weights', 'advantages', 'oldLogProbs', 'refLogProbs'] as const;
  return names.slice(0, loss.name === 'cross_entropy' ? 1 : usesReference(loss) ? 4 : 3);
};

/** What the teacher thinks likeliest where each trained token is, [N, k] each, for a loss that distils. */
export const teacherInputs = { ids: 'teacherIds', logProbs: 'teacherLogProbs' } as const;

export const distilled = (loss: LossSpec): number =>
  loss.name === 'policy' ? (loss.distill?.topK ?? 0) : 0;

function teacherSpecs(trained: number, loss: LossSpec): TensorSpec[] {
  const shape = [trained, distilled(loss)];
  if (distilled(loss) === 0) return [];
  return [{ name: teacherInputs.ids, shape, dtype: 'int32' }, float(teacherInputs.logProbs, shape)];
}

interface OwnLoss {
  spec: PolicyLossSpec;
  found: FoundLoss;
}

const ownLoss = async (loss: LossSpec): Promise<OwnLoss | undefined> =>
  loss.name === 'policy' ? { spec: loss, found: await findLoss(loss) } : undefined;

const isPerSequence = (own: OwnLoss | undefined): boolean => own?.found.spec.perSequence === true;

function tokenLoss(
  config: ModelConfig,
  parameters: Tensors,
  inputs: Tensors,
  { own, memory, kind }: Pick<TrainingBodyOptions, 'own' | 'memory' | 'kind'>,
) {
  const { temperature = 1, entropyBonus = 0 } = own?.spec ?? {};
  const options = { temperature, memory, kind, entropyGradient: hasEntropyGradient(own?.spec) };
  const { logProbs, entropy, ofTeacher } = trainedLogProbs(config, parameters, inputs, options);
  const weights = inputs['weights'] as Tensor;
  const sums: Record<string, Tensor> = { entropy: tf.sum(tf.mul(entropy, weights)) };
  if (own === undefined) return { total: crossEntropyLoss(logProbs, weights), logProbs, sums };
  const { spec, found } = own;
  const membership = inputs[membershipInput];
  const result = policyLoss(
    {
      logProbs,
      oldLogProbs: inputs['oldLogProbs'] as Tensor,
      advantages: inputs['advantages'] as Tensor,
      weights,
      refLogProbs: usesReference(spec) ? inputs['refLogProbs'] : undefined,
      entropy: entropyBonus === 0 ? undefined : entropy,
      membership,
      top: ofTeacher && { logProbs: ofTeacher, teacher: inputs[teacherInputs.logProbs]! },
    },
    spec,
    found.loss,
  );
  return { total: result.loss, logProbs, sums: { ...sums, ...result.sums } };
}

export interface ScoreProgramOptions {
  temperature: number;
  memory: ProgramMemory;
  /** How many of the likeliest tokens are listed in each place; none by default. */
  topK?: number | undefined;
}

/** Log-probabilities of given tokens, no gradient, of micro-batches of one kind. */
export const compileScoreProgram = (
  engine: Engine,
  config: ModelConfig,
  { kind, held = {}, ...options }: ScoreProgramOptions & CompiledFor,
): Promise<SizedProgram> =>
  engine.compileSized(
    (sizes) => scoringBody(config, { ...options, kind, shape: shapeAt(kind, sizes) }),
    openSizesOf(kind, { perSequence: false }),
    {
      manyRows: true,
      constants: held,
      name: `scoring of ${kind.hasTrees ? 'trees' : 'sequences'}`,
      runName: (sizes) => `scoring of ${shapeText(shapeAt(kind, sizes))}`,
    },
  );

/** The same at one shape; for plans. */
export const scoreBody = (
  config: ModelConfig,
  { shape, ...options }: ScoreProgramOptions & { shape: BatchShape },
): SizedBody => {
  const kind = kindOf(shape, rowsAtOnce(options.memory, config));
  return scoringBody(config, { ...options, kind, shape });
};

function scoringBody(
  config: ModelConfig,
  {
    kind,
    shape,
    temperature,
    memory,
    topK = 0,
  }: ScoreProgramOptions & { kind: BatchKind; shape: BatchShape },
): SizedBody {
  const forward = { temperature, kind, topK, memory: { ...memory, recompute: 'none' as const } };
  return {
    specs: [...weightSpecs(config), ...batchSpecs(config, shape)],
    body: (inputs) => {
      const { logProbs, top } = trainedLogProbs(config, inputs, inputs, forward);
      return { logProbs, ...top };
    },
  };
}
