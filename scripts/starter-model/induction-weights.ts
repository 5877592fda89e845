import type { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import {
  embeddingName,
  finalNormName,
  initialParameters,
  layerParameter,
} from '../../model/config/parameters.ts';
import { inverseFrequencies } from '../../model/decoder/rope.ts';

/** Of an embedding, in the channels that hold it. */
const embeddingDeviation = 0.1;

/** Value of the last channel, the same for every token: what heads that look at a distance are made of. */
const constant = 0.5;

/** What the heads of the first layer and the copying heads write, as a share of what they read. */
const notedShare = 0.12;
const copiedShare = 0.27;

/** Weight of the final norm: how surely a copied token is predicted. */
const loudness = 2;

/** Weights of the norms of queries and keys: how sharply heads look. */
const sharpness = { previous: 2, matching: 1.7 };

/** Turns faster than this distinguish neighbours; slower ones hardly turn over a whole conversation. */
const fastRadians = 0.3;
const slowRadians = 0.02;

/**
 * Fresh weights that begin as an induction head: what followed the same two tokens before is likely to follow now.
 *
 * The stream's channels are an embedding (as many as a head is wide), notes of the token before and of the one before that,
 * and a constant. In the first layer two heads look one and two tokens back, by the phases of the rotary embedding alone, and
 * write their notes. In the second layer a head compares the current token and the note of the one before it with the notes of
 * every place, and copies the embedding of the place that fits, which the tied output reads. All else is small and random;
 * heads without a part of it copy what they attend to (as in Trockman and Kolter 2023,
 * https://arxiv.org/abs/2305.09828, section 3).
 *
 * After Olsson et al. 2022, "In-context learning and induction heads", https://arxiv.org/abs/2209.11895. Departure: wired
 * by hand, and on two tokens.
 *
 * @throws RangeError when the model has too few layers, heads or channels for it
 */
export function inductionParameters(config: ModelConfig, rng: KeyedRng): Map<string, Float32Array> {
  const wiring = new Wiring(config, rng.child('induction'), initialParameters(config, rng));
  wiring.embed();
  wiring.notePrevious();
  wiring.matchNotes();
  wiring.copyWhatIsAttended();
  return wiring.parameters;
}

class Wiring {
  readonly #noteWidth: number;
  readonly #noteMap: readonly Float32Array[];

  constructor(
    private readonly config: ModelConfig,
    private readonly rng: KeyedRng,
    readonly parameters: Map<string, Float32Array>,
  ) {
    const { layers, heads, kvHeads, hiddenSize, headDim, tiedEmbeddings, qkNorm } = config;
    this.#noteWidth = Math.floor((hiddenSize - headDim - 1) / 2);
    if (layers < 2 || heads / kvHeads < 2 || this.#noteWidth < 8 || !tiedEmbeddings || !qkNorm) {
      throw new RangeError('Induction needs two layers, two heads a key, and channels for notes.');
    }
    this.#noteMap = this.#random(this.#noteWidth, headDim, 'note');
  }

  embed(): void {
    const { vocabSize, hiddenSize, headDim } = this.config;
    const table = this.#tensor(embeddingName);
    for (let token = 0; token < vocabSize; token++) {
      const row = table.subarray(token * hiddenSize, (token + 1) * hiddenSize);
      const noise = this.rng.child('embedding', token);
      for (let channel = 0; channel < headDim; channel++) {
        row[channel] = embeddingDeviation * noise.normal();
      }
      row[hiddenSize - 1] = constant;
    }
  }

  /** First layer, heads 0 and 1: the tokens one and two places back. */
  notePrevious(): void {
    const { hiddenSize: width, headDim, heads, ropeTheta } = this.config;
    const half = headDim / 2;
    const queries = this.#layer(0, 'self_attn.q_proj');
    const keys = this.#layer(0, 'self_attn.k_proj');
    queries.fill(0, 0, 2 * headDim * width);
    keys.fill(0, 0, headDim * width);
    for (const [pair, radians] of inverseFrequencies(headDim, ropeTheta).entries()) {
      if (radians < fastRadians) continue;
      keys[pair * width + width - 1] = 1;
      for (const back of [1, 2]) {
        const row = (back - 1) * headDim + pair;
        queries[row * width + width - 1] = Math.cos(back * radians);
        queries[(row + half) * width + width - 1] = -Math.sin(back * radians);
      }
    }
    this.#readEmbedding(0, 0);
    const output = this.#layer(0, 'self_attn.o_proj');
    for (let out = 0; out < width; out++) {
      output.fill(0, out * heads * headDim, out * heads * headDim + 2 * headDim);
    }
    for (const back of [1, 2]) {
      for (const [channel, from] of this.#noteMap.entries()) {
        const out = this.#noteChannel(back) + channel;
        for (let i = 0; i < headDim; i++) {
          output[out * heads * headDim + (back - 1) * headDim + i] = notedShare * (from[i] ?? 0);
        }
      }
    }
    this.#sharpen(0, sharpness.previous);
  }

  /** Second layer, head 0: this token and the one before it against the notes of every place. */
  matchNotes(): void {
    const { hiddenSize: width, headDim, ropeTheta } = this.config;
    const half = headDim / 2;
    const slow = [...inverseFrequencies(headDim, ropeTheta).entries()]
      .filter(([, radians]) => radians < slowRadians)
      .flatMap(([pair]) => [pair, pair + half]);
    const queries = this.#layer(1, 'self_attn.q_proj');
    const keys = this.#layer(1, 'self_attn.k_proj');
    queries.fill(0, 0, headDim * width);
    keys.fill(0, 0, headDim * width);
    for (const back of [1, 2]) {
      const compared = this.#random(slow.length, this.#noteWidth, `compare ${back}`);
      for (const [i, row] of slow.entries()) {
        for (const [channel, weight] of compared[i]!.entries()) {
          add(keys, row * width + this.#noteChannel(back) + channel, weight);
          if (back === 2) add(queries, row * width + this.#noteChannel(1) + channel, weight);
          else {
            for (const [from, share] of this.#noteMap[channel]!.entries())
              add(queries, row * width + from, weight * share);
          }
        }
      }
    }
    this.#sharpen(1, sharpness.matching);
  }

  /** Every head from the second layer on: what is attended to is written, and so made likelier. */
  copyWhatIsAttended(): void {
    const { headDim, heads, kvHeads, layers } = this.config;
    for (let layer = 1; layer < layers; layer++) {
      for (let head = 0; head < kvHeads; head++) this.#readEmbedding(layer, head);
      const output = this.#layer(layer, 'self_attn.o_proj').fill(0);
      for (let head = 0; head < heads; head++) {
        const share = layer === 1 && head === 0 ? copiedShare : copiedShare / heads;
        for (let i = 0; i < headDim; i++) {
          output[i * heads * headDim + head * headDim + i] = share;
        }
      }
    }
    this.#tensor(finalNormName).fill(loudness);
  }

  /** Values of a head are the embedding as it is. */
  #readEmbedding(layer: number, kvHead: number): void {
    const { hiddenSize: width, headDim } = this.config;
    const values = this.#layer(layer, 'self_attn.v_proj');
    for (let i = 0; i < headDim; i++) {
      const row = kvHead * headDim + i;
      values.fill(0, row * width, (row + 1) * width);
      values[row * width + i] = 1;
    }
  }

  #sharpen(layer: number, weight: number): void {
    this.#layer(layer, 'self_attn.q_norm').fill(weight);
    this.#layer(layer, 'self_attn.k_norm').fill(weight);
  }

  /** Where the note of the token `back` places before begins. */
  #noteChannel(back: number): number {
    return this.config.headDim + (back - 1) * this.#noteWidth;
  }

  #layer(layer: number, name: string): Float32Array {
    return this.#tensor(layerParameter(layer, `${name}.weight`));
  }

  #tensor(name: string): Float32Array {
    return this.parameters.get(name)!;
  }

  /** Rows that keep lengths on average. */
  #random(rows: number, columns: number, name: string): Float32Array[] {
    const drawn = this.rng.child(name);
    return Array.from({ length: rows }, () =>
      Float32Array.from({ length: columns }, () => drawn.normal() / Math.sqrt(columns)),
    );
  }
}

function add(values: Float32Array, at: number, amount: number): void {
  values[at] = (values[at] ?? 0) + amount;
}
