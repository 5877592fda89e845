import { crossEntropyLoss } from '../algorithms/cross-entropy-loss.ts';
import { policyLoss } from '../algorithms/policy-loss.ts';
import type { LossSpec } from '../core/learner.ts';
import type { Engine, Program, TensorSpec } from '../engine/engine.ts';
import { tf, tokenLogProbs, type Tensor } from '../engine/ops.ts';
import { decoderHidden } from '../../model/decoder.ts';
import type { ModelConfig } from '../../model/model-config.ts';
import { headName, parameter, parameterSpecs } from '../../model/parameters.ts';
import type { BatchShape } from './train-batch.ts';

/** Prefix of the outputs that are gradients, followed by the parameter's name. */
export const gradientPrefix = 'gradient:';
/** Prefix of the outputs that are weighted sums over trained tokens. */
export const sumPrefix = 'sum:';

type Tensors = Readonly<Record<string, Tensor>>;

/** Log-probabilities and entropies of the trained tokens only: the head is never applied to the rest. */
function trainedLogProbs(
  config: ModelConfig,
  parameters: Tensors,
  inputs: Tensors,
  temperature: number,
) {
  const hidden = decoderHidden(config, parameters, {
    tokens: inputs['tokens'] as Tensor,
    cos: inputs['cos'] as Tensor,
    sin: inputs['sin'] as Tensor,
    mask: inputs['mask'] as Tensor,
  });
  const rows = tf.gather(hidden, inputs['rows'] as Tensor); // [N, D]
  const head = parameter(parameters, headName(config));
  return tokenLogProbs(rows, head, inputs['targets'] as Tensor, temperature);
}

const float = (name: string, shape: readonly number[]): TensorSpec => ({
  name,
  shape,
  dtype: 'float32',
});

/** Inputs besides the weights. */
function batchSpecs(config: ModelConfig, { sequences, length, trained }: BatchShape): TensorSpec[] {
  return [
    { name: 'tokens', shape: [sequences, length], dtype: 'int32' },
    float('cos', [length, config.headDim]),
    float('sin', [length, config.headDim]),
    float('mask', [length, length]),
    { name: 'rows', shape: [trained], dtype: 'int32' },
    { name: 'targets', shape: [trained], dtype: 'int32' },
  ];
}

const weightSpecs = (config: ModelConfig): TensorSpec[] =>
  parameterSpecs(config).map(({ name, shape }) => ({ name, shape, dtype: 'float32' as const }));

/** Forward, loss and the gradient of every parameter. */
export function compileTrainProgram(
  engine: Engine,
  config: ModelConfig,
  shape: BatchShape,
  loss: LossSpec,
): Promise<Program> {
  const weights = weightSpecs(config);
  const perToken = ['weights', 'advantages', 'oldLogProbs', 'refLogProbs'].map(
    (name): TensorSpec => ({ name, shape: [shape.trained], dtype: 'float32' }),
  );
  const used =
    loss.name === 'cross_entropy'
      ? perToken.slice(0, 1)
      : perToken.slice(0, usesReference(loss) ? 4 : 3);
  const specs = [...weights, ...batchSpecs(config, shape), ...used];
  return engine.compile(specs, (inputs) => {
    const outputs: Record<string, Tensor> = {};
    const lossOf = (...values: Tensor[]): Tensor => {
      const parameters = Object.fromEntries(
        weights.map(({ name }, i) => [name, values[i] as Tensor]),
      );
      const { total, logProbs, sums } = tokenLoss(config, parameters, inputs, loss);
      // What leaves the differentiated function besides its value would be disposed with its scope.
      outputs['logProbs'] = tf.keep(logProbs);
      outputs['loss'] = tf.keep(total);
      for (const [name, sum] of Object.entries(sums)) outputs[`${sumPrefix}${name}`] = tf.keep(sum);
      return total;
    };
    const gradients = tf.grads(lossOf)(weights.map(({ name }) => inputs[name] as Tensor));
    for (const [i, { name }] of weights.entries())
      outputs[`${gradientPrefix}${name}`] = gradients[i] as Tensor;
    return outputs;
  });
}

export const usesReference = (loss: LossSpec): boolean =>
  loss.name === 'ppo' && loss.kl.kind !== 'none';

function tokenLoss(config: ModelConfig, parameters: Tensors, inputs: Tensors, loss: LossSpec) {
  const temperature = loss.name === 'ppo' ? loss.temperature : 1;
  const { logProbs, entropy } = trainedLogProbs(config, parameters, inputs, temperature);
  const weights = inputs['weights'] as Tensor;
  const sums: Record<string, Tensor> = { entropy: tf.sum(tf.mul(entropy, weights)) };
  if (loss.name === 'cross_entropy') {
    return { total: crossEntropyLoss(logProbs, weights), logProbs, sums };
  }
  const result = policyLoss(
    {
      logProbs,
      oldLogProbs: inputs['oldLogProbs'] as Tensor,
      advantages: inputs['advantages'] as Tensor,
      weights,
      ...(usesReference(loss) && { refLogProbs: inputs['refLogProbs'] as Tensor }),
    },
    loss,
  );
  return { total: result.loss, logProbs, sums: { ...sums, ...result.sums } };
}

/** Log-probabilities of given tokens, no gradient. */
export function compileScoreProgram(
  engine: Engine,
  config: ModelConfig,
  shape: BatchShape,
  temperature: number,
): Promise<Program> {
  const specs = [...weightSpecs(config), ...batchSpecs(config, shape)];
  return engine.compile(specs, (inputs) => {
    const { logProbs } = trainedLogProbs(config, inputs, inputs, temperature);
    return { logProbs };
  });
}
