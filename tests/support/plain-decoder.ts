import type { ModelConfig } from '#model/config/architecture.ts';

type Weights = ReadonlyMap<string, Float32Array>;
type Row = readonly number[];
type Rows = readonly Row[];

/**
 * The decoder in loops over ordinary numbers, one sequence at a time, keys and values repeated per query head:
 * slow, obvious, and sharing no code with the real one. Returns logits, one array per position.
 */
export function plainLogits(config: ModelConfig, weights: Weights, tokens: Row): number[][] {
  const table = tensor(weights, 'model.embed_tokens.weight');
  let hidden = tokens.map((token) => row(table, token, config.hiddenSize));
  for (let layer = 0; layer < config.layers; layer++) {
    const get = (name: string): Float32Array => tensor(weights, `model.layers.${layer}.${name}`);
    const mixed = attention(config, get, hidden);
    hidden = hidden.map((x, t) => plus(x, times(get('self_attn.o_proj.weight'), mixed[t]!)));
    hidden = hidden.map((x) => plus(x, feedForward(config, get, x)));
  }
  const head = config.tiedEmbeddings ? table : tensor(weights, 'lm_head.weight');
  return hidden.map((x) =>
    times(head, normalise(x, tensor(weights, 'model.norm.weight'), config.rmsNormEps)),
  );
}

/** Log-probability of each token given those before it; entry 0 is 0. */
export function plainLogProbs(config: ModelConfig, weights: Weights, tokens: Row): number[] {
  const logits = plainLogits(config, weights, tokens);
  return tokens.map((token, t) => (t === 0 ? 0 : logSoftmax(logits[t - 1]!)[token]!));
}

export function logSoftmax(logits: Row): number[] {
  const top = Math.max(...logits);
  const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - top), 0)) + top;
  return logits.map((logit) => logit - total);
}

type Get = (name: string) => Float32Array;

function attention(config: ModelConfig, get: Get, hidden: Rows): number[][] {
  const { heads, kvHeads, headDim } = config;
  const normed = hidden.map((x) => normalise(x, get('input_layernorm.weight'), config.rmsNormEps));
  const project = (name: string, x: number[]): number[] => {
    const y = times(get(`self_attn.${name}_proj.weight`), x);
    return config.qkvBias ? plus(y, [...get(`self_attn.${name}_proj.bias`)]) : y;
  };
  const head = (name: string, x: number[], index: number, position: number): number[] => {
    const part = project(name, x).slice(index * headDim, (index + 1) * headDim);
    if (name === 'v') return part;
    const weight = config.qkNorm ? get(`self_attn.${name}_norm.weight`) : undefined;
    return turn(
      weight === undefined ? part : normalise(part, weight, config.rmsNormEps),
      position,
      config.ropeTheta,
    );
  };
  return normed.map((x, t) =>
    Array.from({ length: heads }, (_, h) => {
      const kv = Math.floor(h / (heads / kvHeads));
      const query = head('q', x, h, t);
      const scores = normed
        .slice(0, t + 1)
        .map((past, s) => dot(query, head('k', past, kv, s)) / Math.sqrt(headDim));
      const shares = logSoftmax(scores).map(Math.exp);
      return shares.reduce<number[]>(
        (sum, share, s) =>
          plus(
            sum,
            head('v', normed[s]!, kv, s).map((value) => share * value),
          ),
        Array.from({ length: headDim }, () => 0),
      );
    }).flat(),
  );
}

function feedForward(config: ModelConfig, get: Get, hidden: number[]): number[] {
  const x = normalise(hidden, get('post_attention_layernorm.weight'), config.rmsNormEps);
  const up = times(get('mlp.up_proj.weight'), x);
  const gated = times(get('mlp.gate_proj.weight'), x).map(
    (g, i) => (g / (1 + Math.exp(-g))) * up[i]!,
  );
  return times(get('mlp.down_proj.weight'), gated);
}

function turn(x: Row, position: number, theta: number): number[] {
  const half = x.length / 2;
  return x.map((value, i) => {
    const angle = position * theta ** (-(2 * (i % half)) / x.length);
    const other = i < half ? -x[i + half]! : x[i - half]!;
    return value * Math.cos(angle) + other * Math.sin(angle);
  });
}

function normalise(x: Row, weight: Float32Array, eps: number): number[] {
  const scale = 1 / Math.sqrt(dot(x, x) / x.length + eps);
  return x.map((value, i) => value * scale * weight[i]!);
}

const dot = (a: Row, b: Row): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

const plus = (a: Row, b: Row): number[] => a.map((value, i) => value + b[i]!);

/** A stored matrix [out, in] times a vector. */
const times = (matrix: Float32Array, x: Row): number[] =>
  Array.from({ length: matrix.length / x.length }, (_, out) => dot(row(matrix, out, x.length), x));

const row = (matrix: Float32Array, index: number, width: number): number[] => [
  ...matrix.subarray(index * width, (index + 1) * width),
];

function tensor(weights: Weights, name: string): Float32Array {
  const values = weights.get(name);
  if (values === undefined) throw new Error(`No tensor ${name}.`);
  return values;
}
