/**
 * The decoder as an ONNX graph of its own, with the inputs and outputs that transformers.js, Optimum and ONNX
 * Runtime GenAI agree on. Sizes are open: B sequences, S new tokens, P tokens before, T = P + S.
 *
 * Attention is spelt out in standard operators. GroupQueryAttention is given a length per sequence and so takes
 * sequences padded at the right only, and transformers.js pads at the left.
 */
import type { Port } from '../../agent_rl/engine/onnx/encode-model.ts';
import { Graph } from '../../agent_rl/engine/trace/graph.ts';
import type { LinearModule } from '../../agent_rl/core/services/linear-module.ts';
import type { OpenGraph } from '../../agent_rl/engine/onnx/model-parts.ts';
import type { ModelConfig } from '../config/architecture.ts';
import { adapterParameter, adapterScale, allSpecs } from '../adapters/adapter.ts';
import {
  embeddingName,
  finalNormName,
  headName,
  layerParameter,
  parameter,
} from '../config/parameters.ts';
import { ropeTablesUpTo } from '../decoder/rope.ts';

/** Clears the range of every score, and unlike -Infinity leaves a row that sees nothing finite. */
const hidden = -1e9;

interface Shared {
  /** Rotation tables [positions, hd / 2]. */
  cos: string;
  sin: string;
  /** [B, 1, group * S, T], added to the scores. */
  mask: string;
  /** [B] and [S] as int64 [1], for shapes. */
  batch: string;
  length: string;
}

/**
 * Inputs: `input_ids` [B, S], `attention_mask` [B, T], `position_ids` [B, S] and `num_logits_to_keep` [] (0 is all),
 * int64; `past_key_values.N.key` and `.value` [B, kv, P, hd]. Outputs: `logits` [B, kept, V], `present.N.key` and
 * `.value` [B, kv, T, hd].
 */
export function decoderGraph(
  config: ModelConfig,
  parameters: ReadonlyMap<string, Float32Array>,
): OpenGraph {
  return new DecoderGraph(config, parameters).build();
}

class DecoderGraph {
  readonly #graph = new Graph();
  readonly #op = this.#graph.emit.bind(this.#graph);

  constructor(
    private readonly config: ModelConfig,
    private readonly parameters: ReadonlyMap<string, Float32Array>,
  ) {}

  build(): OpenGraph {
    this.#addWeights();
    const shared = this.#shared();
    let rows = this.#op('Reshape', [
      this.#op('Gather', [embeddingName, 'input_ids']),
      this.#graph.int64s([-1, this.config.hiddenSize]),
    ]);
    for (let layer = 0; layer < this.config.layers; layer++) {
      rows = this.#finishLayer(layer, rows, this.#attention(layer, rows, shared));
    }
    this.#head(rows, shared);
    return { graph: this.#graph, inputs: this.#inputs(), outputs: this.#outputs() };
  }

  #addWeights(): void {
    const byName = Object.fromEntries(this.parameters);
    for (const { name, shape } of allSpecs(this.config)) {
      this.#graph.constant(name, { shape, dtype: 'float32' }, parameter(byName, name));
    }
  }

  #shared(): Shared {
    const batch = this.#sizeOf('input_ids', 0);
    const length = this.#sizeOf('input_ids', 1);
    const { maxPositions, headDim } = this.config;
    const tables = ropeTablesUpTo(this.config, maxPositions);
    const table = (name: 'cos' | 'sin'): string => {
      const value = { shape: [maxPositions, headDim / 2], dtype: 'float32' } as const;
      this.#graph.constant(`rope.${name}`, value, firstHalves(tables[name], headDim));
      return `rope.${name}`;
    };
    return { cos: table('cos'), sin: table('sin'), mask: this.#mask(length), batch, length };
  }

  /** A token sees itself and what came before it, where the caller's mask is not 0. */
  #mask(length: string): string {
    const past = this.#sizeOf('past_key_values.0.key', 2);
    const keys = this.#range(this.#sizeOf('attention_mask', 1)); // [T]
    const queries = this.#op('Add', [this.#range(length), past]); // [S]
    const columns = this.#op('Unsqueeze', [queries, this.#graph.int64s([1])]);
    const before = this.#op('LessOrEqual', [keys, columns]); // [S, T]
    const given = this.#graph.cast('attention_mask', 'bool');
    const seen = this.#op('And', [
      this.#op('Unsqueeze', [given, this.#graph.int64s([1, 2])]),
      before,
    ]); // [B, 1, S, T]
    const mask = this.#op('Where', [seen, this.#graph.scalar(0), this.#graph.scalar(hidden)]);
    const group = this.config.heads / this.config.kvHeads;
    // The query heads that share a key head are rows of one product with it.
    const copies = Array.from({ length: group }, () => mask);
    return group === 1 ? mask : this.#op('Concat', copies, { axis: 2 });
  }

  /** rows [B * S, D] -> what the heads read, [B * S, H * hd]. */
  #attention(layer: number, rows: string, shared: Shared): string {
    const { heads, kvHeads, headDim } = this.config;
    const normed = this.#norm(rows, layerParameter(layer, 'input_layernorm.weight'));
    const rotate = (name: string): string =>
      this.#op('RotaryEmbedding', [name, 'position_ids', shared.cos, shared.sin]);
    const query = rotate(this.#heads(layer, 'q', normed, shared));
    const fresh = [
      rotate(this.#heads(layer, 'k', normed, shared)),
      this.#heads(layer, 'v', normed, shared),
    ];
    const [key, value] = ['key', 'value'].map((kind, index) => {
      const parts = [`past_key_values.${layer}.${kind}`, fresh[index]!];
      return this.#op('Concat', parts, { axis: 2 }, `present.${layer}.${kind}`);
    });
    const scaled = this.#op('Mul', [query, this.#graph.scalar(1 / Math.sqrt(headDim))]);
    const groups = this.#shape(shared.batch, [kvHeads, -1, headDim]);
    const grouped = this.#op('Reshape', [scaled, groups]);
    const transposed = this.#op('Transpose', [key!], { perm: [0, 1, 3, 2] });
    const scores = this.#op('Add', [this.#op('MatMul', [grouped, transposed]), shared.mask]);
    const shares = this.#op('Softmax', [scores], { axis: -1 });
    const mixed = this.#op('Reshape', [
      this.#op('MatMul', [shares, value!]),
      this.#shape(shared.batch, [heads, -1, headDim]),
    ]);
    return this.#op('Reshape', [
      this.#op('Transpose', [mixed], { perm: [0, 2, 1, 3] }),
      this.#graph.int64s([-1, heads * headDim]),
    ]);
  }

  /** Queries, keys or values of the new tokens, normalised where the model does, [B, heads, S, hd]. */
  #heads(layer: number, kind: 'q' | 'k' | 'v', rows: string, { batch, length }: Shared): string {
    const { heads, kvHeads, headDim, qkNorm } = this.config;
    const count = kind === 'q' ? heads : kvHeads;
    const sizes = [batch, length, this.#graph.int64s([count, headDim])];
    const shape = this.#op('Concat', sizes, { axis: 0 });
    const split = this.#op('Reshape', [this.#linear(layer, `self_attn.${kind}_proj`, rows), shape]);
    const normed =
      qkNorm && kind !== 'v'
        ? this.#norm(split, layerParameter(layer, `self_attn.${kind}_norm.weight`))
        : split;
    return this.#op('Transpose', [normed], { perm: [0, 2, 1, 3] });
  }

  #finishLayer(layer: number, rows: string, mixed: string): string {
    const attended = this.#op('Add', [rows, this.#linear(layer, 'self_attn.o_proj', mixed)]);
    const normed = this.#norm(attended, layerParameter(layer, 'post_attention_layernorm.weight'));
    const gate = this.#linear(layer, 'mlp.gate_proj', normed);
    const opened = this.#op('Mul', [gate, this.#op('Sigmoid', [gate])]);
    const product = this.#op('Mul', [opened, this.#linear(layer, 'mlp.up_proj', normed)]);
    return this.#op('Add', [attended, this.#linear(layer, 'mlp.down_proj', product)]);
  }

  /** Logits of the last `num_logits_to_keep` tokens only: of a long prompt one row is read. */
  #head(rows: string, { batch }: Shared): void {
    const { hiddenSize, vocabSize } = this.config;
    const sequences = this.#op('Reshape', [rows, this.#shape(batch, [-1, hiddenSize])]);
    const keep = this.#op('Reshape', ['num_logits_to_keep', this.#graph.int64s([1])]);
    const end = this.#graph.int64s([2 ** 31 - 1]);
    // From -0 on is from the first one on.
    const kept = this.#op('Slice', [
      sequences,
      this.#op('Neg', [keep]),
      end,
      this.#graph.int64s([1]),
    ]);
    const normed = this.#norm(kept, finalNormName);
    const flat = this.#op('Reshape', [normed, this.#graph.int64s([-1, hiddenSize])]);
    const logits = this.#op('Gemm', [flat, headName(this.config)], transposedB);
    this.#op('Reshape', [logits, this.#shape(batch, [-1, vocabSize])], {}, 'logits');
  }

  /** Rows times a stored matrix [out, in], plus its bias where it has one and what adapters add. */
  #linear(layer: number, name: LinearModule, rows: string): string {
    const bias = layerParameter(layer, `${name}.bias`);
    const weight = layerParameter(layer, `${name}.weight`);
    const inputs = [rows, weight, ...(this.parameters.has(bias) ? [bias] : [])];
    const sum = this.#op('Gemm', inputs, transposedB);
    const adapters = (this.config.adapters ?? []).filter(({ targets }) => targets.includes(name));
    return adapters.reduce((before, adapter) => {
      const matrix = (which: 'A' | 'B'): string => adapterParameter(adapter, layer, name, which);
      const scaled = { ...transposedB, alpha: { float: adapterScale(adapter) } };
      const low = this.#op('Gemm', [rows, matrix('A')], scaled);
      return this.#op('Gemm', [low, matrix('B'), before], transposedB);
    }, sum);
  }

  #norm(x: string, weight: string): string {
    const attributes = { axis: -1, epsilon: { float: this.config.rmsNormEps }, stash_type: 1 };
    return this.#op('SimplifiedLayerNormalization', [x, weight], attributes);
  }

  /** 0 to n - 1, for n an int64 [1]. */
  #range(count: string): string {
    const scalar = (name: string): string => this.#op('Squeeze', [name]);
    const [zero, one] = [this.#graph.int64s([0]), this.#graph.int64s([1])];
    return this.#op('Range', [scalar(zero), scalar(count), scalar(one)]);
  }

  /** One size of a tensor as int64 [1]. */
  #sizeOf(name: string, axis: number): string {
    return this.#op('Shape', [name], { start: axis, end: axis + 1 });
  }

  /** [B, ...rest] as a shape. */
  #shape(batch: string, rest: readonly number[]): string {
    return this.#op('Concat', [batch, this.#graph.int64s(rest)], { axis: 0 });
  }

  #inputs(): Port[] {
    return [
      int64('input_ids', ['batch_size', 'sequence_length']),
      int64('attention_mask', ['batch_size', 'total_sequence_length']),
      int64('position_ids', ['batch_size', 'sequence_length']),
      int64('num_logits_to_keep', []),
      ...this.#caches('past_key_values', 'past_sequence_length'),
    ];
  }

  #outputs(): Port[] {
    const { vocabSize } = this.config;
    return [
      { name: 'logits', shape: ['batch_size', 'kept_length', vocabSize], dtype: 'float32' },
      ...this.#caches('present', 'total_sequence_length'),
    ];
  }

  #caches(prefix: string, length: string): Port[] {
    const { layers, kvHeads, headDim } = this.config;
    const shape = ['batch_size', kvHeads, length, headDim];
    return Array.from({ length: layers }, (_, layer) =>
      ['key', 'value'].map((kind): Port => ({
        name: `${prefix}.${layer}.${kind}`,
        shape,
        dtype: 'float32',
      })),
    ).flat();
  }
}

const int64 = (name: string, shape: readonly string[]): Port => ({ name, shape, dtype: 'int64' });

const transposedB = { transB: 1 };

/** RotaryEmbedding reads one angle per pair: the first half of each row, whose second half is the same. */
function firstHalves(table: Float32Array, width: number): Float32Array {
  const half = width / 2;
  const rows = table.length / width;
  const halves = new Float32Array(rows * half);
  for (let row = 0; row < rows; row++) {
    halves.set(table.subarray(row * width, row * width + half), row * half);
  }
  return halves;
}
