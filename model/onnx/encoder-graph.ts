/**
 * A BERT encoder (Devlin et al. 2019, https://arxiv.org/abs/1810.04805) as an ONNX graph, with the inputs and the output
 * that transformers.js and Optimum agree on. Sizes are open: B sequences, S tokens.
 */
import type { OpenGraph } from '../../agent_rl/engine/onnx/model-parts.ts';
import { Graph } from '../../agent_rl/engine/trace/graph.ts';
import { encoderSpecs, type EncoderConfig } from './encoder-config.ts';

/** Clears the range of every score, and unlike -Infinity leaves a row that sees nothing finite. */
const hidden = -1e9;

/**
 * Inputs: `input_ids`, `attention_mask` and `token_type_ids` [B, S], int64. Output: `last_hidden_state` [B, S, D].
 *
 * @param parameters by the names of `encoderSpecs`
 */
export function encoderGraph(
  config: EncoderConfig,
  parameters: ReadonlyMap<string, Float32Array>,
): OpenGraph {
  return new EncoderGraph(config, parameters).build();
}

class EncoderGraph {
  readonly #graph = new Graph();
  readonly #op = this.#graph.emit.bind(this.#graph);

  constructor(
    private readonly config: EncoderConfig,
    private readonly parameters: ReadonlyMap<string, Float32Array>,
  ) {}

  build(): OpenGraph {
    for (const { name, shape } of encoderSpecs(this.config)) {
      const values = this.parameters.get(name) ?? [];
      this.#graph.constant(name, { shape, dtype: 'float32' }, values);
    }
    const mask = this.#mask();
    let rows = this.#embeddings();
    for (let layer = 0; layer < this.config.layers; layer++) {
      rows = this.#layer(`encoder.layer.${layer}`, rows, mask);
    }
    this.#op('Identity', [rows], {}, 'last_hidden_state');
    const shape = ['batch_size', 'sequence_length'];
    return {
      graph: this.#graph,
      inputs: ['input_ids', 'attention_mask', 'token_type_ids'].map((name) => ({
        name,
        shape,
        dtype: 'int64',
      })),
      outputs: [
        { name: 'last_hidden_state', shape: [...shape, this.config.hiddenSize], dtype: 'float32' },
      ],
    };
  }

  /** [B, 1, 1, S], added to the scores: padding is seen by none. */
  #mask(): string {
    const given = this.#graph.cast('attention_mask', 'bool');
    const rows = this.#op('Unsqueeze', [given, this.#graph.int64s([1, 2])]);
    return this.#op('Where', [rows, this.#graph.scalar(0), this.#graph.scalar(hidden)]);
  }

  /** [B, S, D]. */
  #embeddings(): string {
    const row = (kind: string, ids: string): string =>
      this.#op('Gather', [`embeddings.${kind}_embeddings.weight`, ids]);
    const length = this.#op('Squeeze', [this.#op('Shape', ['input_ids'], { start: 1, end: 2 })]);
    const [zero, one] = [0, 1].map((value) => this.#op('Squeeze', [this.#graph.int64s([value])]));
    const positions = this.#op('Range', [zero!, length, one!]);
    const words = this.#op('Add', [row('word', 'input_ids'), row('token_type', 'token_type_ids')]);
    return this.#norm('embeddings.LayerNorm', this.#op('Add', [words, row('position', positions)]));
  }

  #layer(name: string, rows: string, mask: string): string {
    const mixed = this.#attention(`${name}.attention.self`, rows, mask);
    const attended = this.#added(`${name}.attention.output`, mixed, rows);
    const inner = this.#gelu(this.#dense(`${name}.intermediate.dense`, attended));
    return this.#added(`${name}.output`, inner, attended);
  }

  /** rows [B, S, D] -> what the heads read, [B, S, D]. */
  #attention(name: string, rows: string, mask: string): string {
    const { heads, hiddenSize } = this.config;
    const size = hiddenSize / heads;
    const split = (kind: string, perm: readonly number[]): string => {
      const shape = this.#graph.int64s([0, 0, heads, size]);
      const parts = this.#op('Reshape', [this.#dense(`${name}.${kind}`, rows), shape]);
      return this.#op('Transpose', [parts], { perm });
    };
    const products = this.#op('MatMul', [split('query', [0, 2, 1, 3]), split('key', [0, 2, 3, 1])]);
    const scaled = this.#op('Div', [products, this.#graph.scalar(Math.sqrt(size))]);
    const shares = this.#op('Softmax', [this.#op('Add', [scaled, mask])], { axis: -1 });
    const read = this.#op('MatMul', [shares, split('value', [0, 2, 1, 3])]);
    const joined = this.#op('Transpose', [read], { perm: [0, 2, 1, 3] });
    return this.#op('Reshape', [joined, this.#graph.int64s([0, 0, hiddenSize])]);
  }

  /** What a block computed, through its last matrix, added to what it was given and normalised. */
  #added(name: string, computed: string, given: string): string {
    const sum = this.#op('Add', [this.#dense(`${name}.dense`, computed), given]);
    return this.#norm(`${name}.LayerNorm`, sum);
  }

  /** Rows times a stored matrix [out, in], plus its bias. ONNX Runtime transposes a constant once, when it opens the model. */
  #dense(name: string, rows: string): string {
    const matrix = this.#op('Transpose', [`${name}.weight`], { perm: [1, 0] });
    return this.#op('Add', [this.#op('MatMul', [rows, matrix]), `${name}.bias`]);
  }

  /** x (1 + erf(x / sqrt 2)) / 2, in the order of operations that ONNX Runtime fuses. */
  #gelu(x: string): string {
    const erf = this.#op('Erf', [this.#op('Div', [x, this.#graph.scalar(Math.SQRT2)])]);
    const raised = this.#op('Mul', [x, this.#op('Add', [erf, this.#graph.scalar(1)])]);
    return this.#op('Mul', [raised, this.#graph.scalar(0.5)]);
  }

  #norm(name: string, rows: string): string {
    const attributes = { axis: -1, epsilon: { float: this.config.normEps } };
    return this.#op('LayerNormalization', [rows, `${name}.weight`, `${name}.bias`], attributes);
  }
}
