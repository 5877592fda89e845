import type { Engine, Program, TensorData, TensorSpec } from '../../../engine/engine.ts';
import { tf, type Tensor } from '../../../engine/ops.ts';
import { finishLayer, type Decoder } from '../../../../model/decoder/decoder-block.ts';
import { attend, seenByAllBehind, sequenceHeads } from '../../../../model/decoder/decoder.ts';
import type { ModelConfig } from '../../../../model/config/architecture.ts';
import {
  embeddingName,
  finalNormName,
  headName,
  inputSpec,
  layerParameter,
  parameterSpecs,
  unquantized,
  type ParameterSpec,
  type Weights,
} from '../../../../model/config/parameters.ts';
import { ropeTablesUpTo } from '../../../../model/decoder/rope.ts';
import { logitGaps, type LogitGaps } from './logit-gaps.ts';

/** One of the two models, and its hidden states [T, D] of each window so far. */
interface Side {
  config: ModelConfig;
  program: Program;
  hidden: readonly Float32Array[];
  /** Tensors of the layer being collected, by their names in layer 0. */
  layer: Record<string, TensorData>;
}

/**
 * Two models at once, one in float32 and one in four bits, layer by layer while the weights of the one become the weights
 * of the other: no more than one layer is held in float32.
 */
export class LayerComparison {
  readonly #ends = new Map<string, Float32Array>();
  readonly #inputs: Readonly<Record<string, TensorData>>;
  readonly #tensorsOfLayer: number;

  private constructor(
    private readonly engine: Engine,
    private readonly windows: readonly Int32Array[],
    private readonly sides: readonly [Side, Side],
  ) {
    const [{ config }] = sides;
    const length = windows[0]!.length;
    const { cos, sin } = ropeTablesUpTo(config, length);
    this.#inputs = { cos, sin, seenUpTo: seenByAllBehind(length) };
    this.#tensorsOfLayer = layerSpecs(unquantized(config)).length;
  }

  /**
   * @param config - of the quantised model
   * @param windows - token ids, all of one length
   */
  static async open(
    engine: Engine,
    config: ModelConfig,
    windows: readonly Int32Array[],
  ): Promise<LayerComparison> {
    const length = windows[0]!.length;
    const side = async (of: ModelConfig): Promise<Side> => ({
      config: of,
      program: await compileLayer(engine, of, length),
      hidden: [],
      layer: {},
    });
    return new LayerComparison(engine, windows, [
      await side(unquantized(config)),
      await side(config),
    ]);
  }

  /** The next tensor of the float model, in the order of its specs, and what the other holds of it. */
  async take({ name }: ParameterSpec, values: Float32Array, held: Weights): Promise<void> {
    if (name === embeddingName) {
      for (const side of this.sides)
        side.hidden = this.windows.map((ids) => rowsOf(values, ids, side.config));
    }
    const inLayer = /^model\.layers\.\d+\.(.+)$/.exec(name);
    if (inLayer === null) {
      this.#ends.set(name, values);
      return;
    }
    const [float, quantized] = this.sides;
    float.layer[nameInLayer0(name)] = values;
    for (const [of, data] of held) quantized.layer[nameInLayer0(of)] = data;
    if (Object.keys(float.layer).length < this.#tensorsOfLayer) return;
    for (const side of this.sides) {
      side.hidden = await this.#afterLayer(side);
      side.layer = {};
    }
  }

  /** What the two differ by, once all tensors were taken. */
  async result(): Promise<LogitGaps> {
    const [float, quantized] = this.sides;
    return logitGaps(this.engine, float.config, {
      windows: this.windows,
      float: float.hidden,
      quantized: quantized.hidden,
      norm: this.#ends.get(finalNormName)!,
      head: this.#ends.get(headName(float.config))!,
    });
  }

  async close(): Promise<void> {
    for (const { program } of this.sides) await program.dispose();
  }

  async #afterLayer({ program, hidden, layer }: Side): Promise<Float32Array[]> {
    const after: Float32Array[] = [];
    for (const before of hidden) {
      const outputs = await program.run({ ...layer, ...this.#inputs, before });
      after.push(outputs['after'] as Float32Array);
    }
    return after;
  }
}

const nameInLayer0 = (name: string): string =>
  name.replace(/^model\.layers\.\d+\./, layerParameter(0, ''));

const layerSpecs = (config: ModelConfig): readonly ParameterSpec[] =>
  parameterSpecs({ ...config, layers: 1 }).filter(({ name }) =>
    name.startsWith(layerParameter(0, '')),
  );

/** Rows of the embedding, [T, D]. */
function rowsOf(
  embedding: Float32Array,
  ids: Int32Array,
  { hiddenSize }: ModelConfig,
): Float32Array {
  const rows = new Float32Array(ids.length * hiddenSize);
  for (const [t, id] of ids.entries())
    rows.set(embedding.subarray(id * hiddenSize, (id + 1) * hiddenSize), t * hiddenSize);
  return rows;
}

const float = (name: string, shape: readonly number[]): TensorSpec => ({
  name,
  shape,
  dtype: 'float32',
});

function compileLayer(engine: Engine, config: ModelConfig, length: number): Promise<Program> {
  const specs: TensorSpec[] = [
    ...layerSpecs(config).map(inputSpec),
    float('before', [length, config.hiddenSize]),
    float('cos', [length, config.headDim]),
    float('sin', [length, config.headDim]),
    { name: 'seenUpTo', shape: [1, length], dtype: 'int32' },
  ];
  return engine.compile(specs, (inputs) => {
    const input = (name: string): Tensor => inputs[name] as Tensor;
    const decoder: Decoder = { config, parameters: inputs };
    const sequence = {
      // Only its shape is read.
      tokens: tf.zeros([1, length], 'int32'),
      cos: input('cos'),
      sin: input('sin'),
      seenUpTo: input('seenUpTo'),
    };
    const heads = sequenceHeads(decoder, 0, input('before'), sequence);
    return { after: finishLayer(decoder, 0, input('before'), attend(config, heads, sequence)) };
  });
}
