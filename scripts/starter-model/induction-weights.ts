import type { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import {
  embeddingName,
  finalNormName,
  initialParameters,
  layerParameter,
} from '../../model/config/parameters.ts';
import { inverseFrequencies } from '../../model/decoder/rope.ts';

/** Standard deviation of an embedding, in the channels that hold it. */
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

/** What tokens one, two, three and four places back count for where contexts are compared. */
const backWeights = [1, 1, 0.7, 0.5] as const;

/** Turns faster than this distinguish neighbours; slower ones hardly turn over a whole conversation. */
const fastRadians = 0.3;
const slowRadians = 0.02;

/** How far back heads that gather look at first, by pairs of which turns, and how much. */
const nearPlaces = 3;
const nearRadians = { least: 0.1, most: 0.6 };
const nearShare = 0.3;

/** What recalling heads write. */
const recalledShare = 0.15;

export interface InductionOptions {
  /** Tokens that are compared. */
  backs?: 2 | 3 | 4;
  /** Channels of each note; all that are free by default, which leaves none to learn with. */
  noteWidth?: number;
  /** Some heads begin as those that tell what belongs together. */
  recalls?: boolean;
}

/**
 * Fresh weights that begin as an induction head: what followed the same tokens before (two, or up to four) is likely to
 * follow now.
 *
 * The stream's channels are an embedding (as many as a head is wide), a note of each of the tokens before, and a constant. In
 * the first layer a head for each note looks one, two, ... tokens back, by the phases of the rotary embedding alone, and writes
 * it. In the second layer a head compares the current token and the notes of those before it with the notes of every place, and
 * copies the embedding of the place that fits, which the tied output reads. All else is small and random;
 * heads without a part of it copy what they attend to (as in Trockman and Kolter 2023,
 * https://arxiv.org/abs/2305.09828, section 3).
 *
 * With `recalls`, two heads of the second layer gather: they write what they attend to, at first what is near, into channels
 * of their own. In the third layer one head looks for the place that has gathered the current token, and copies the token of
 * that place; another looks for the place of the current token, and copies what that has gathered. So `the mayor is Tamlina` and `Tamlina
 * is the mayor` both say what belongs to `mayor`. What is to be gathered is left to learn.
 *
 * After Olsson et al. 2022, "In-context learning and induction heads", https://arxiv.org/abs/2209.11895. Departure: wired
 * by hand, and on more than one token.
 *
 * @throws RangeError when the model has too few layers, heads or channels for it
 */
export function inductionParameters(
  config: ModelConfig,
  rng: KeyedRng,
  { backs = 2, noteWidth, recalls = false }: InductionOptions = {},
): Map<string, Float32Array> {
  const free = Math.floor((config.hiddenSize - config.headDim - 1) / backs);
  const given = { parameters: initialParameters(config, rng), backs, noteWidth: noteWidth ?? free };
  const wiring = new Wiring(config, rng.child('induction'), given);
  wiring.embed();
  wiring.notePrevious();
  wiring.matchNotes();
  wiring.copyWhatIsAttended();
  if (recalls) {
    wiring.gather();
    wiring.recall();
  }
  return wiring.parameters;
}

class Wiring {
  readonly parameters: Map<string, Float32Array>;
  readonly #backs: readonly number[];
  readonly #noteWidth: number;
  readonly #noteMap: readonly Float32Array[];

  constructor(
    private readonly config: ModelConfig,
    private readonly rng: KeyedRng,
    {
      parameters,
      backs,
      noteWidth,
    }: { parameters: Map<string, Float32Array>; backs: number; noteWidth: number },
  ) {
    this.parameters = parameters;
    const { layers, heads, kvHeads, hiddenSize, headDim, tiedEmbeddings, qkNorm } = config;
    this.#backs = Array.from({ length: backs }, (_, at) => at + 1);
    this.#noteWidth = noteWidth;
    if (
      backs * noteWidth + headDim + 1 > hiddenSize ||
      backs > heads ||
      layers < 2 ||
      heads / kvHeads < 2 ||
      this.#noteWidth < 8 ||
      !tiedEmbeddings ||
      !qkNorm
    ) {
      throw new RangeError(
        'Induction needs two layers, two heads per key, and channels for notes.',
      );
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

  /** First layer, a head for each note: the tokens one, two, ... places back. */
  notePrevious(): void {
    const { hiddenSize: width, headDim, heads, kvHeads, ropeTheta } = this.config;
    const half = headDim / 2;
    const count = this.#backs.length;
    const keyHeads = Math.ceil((count * kvHeads) / heads);
    const queries = this.#layer(0, 'self_attn.q_proj');
    const keys = this.#layer(0, 'self_attn.k_proj');
    queries.fill(0, 0, count * headDim * width);
    keys.fill(0, 0, keyHeads * headDim * width);
    for (const [pair, radians] of inverseFrequencies(headDim, ropeTheta).entries()) {
      if (radians < fastRadians) continue;
      for (let head = 0; head < keyHeads; head++) {
        keys[(head * headDim + pair) * width + width - 1] = 1;
      }
      for (const back of this.#backs) {
        const row = (back - 1) * headDim + pair;
        queries[row * width + width - 1] = Math.cos(back * radians);
        queries[(row + half) * width + width - 1] = -Math.sin(back * radians);
      }
    }
    for (let head = 0; head < keyHeads; head++) this.#readEmbedding(0, head);
    const output = this.#layer(0, 'self_attn.o_proj');
    for (let out = 0; out < width; out++) {
      output.fill(0, out * heads * headDim, (out * heads + count) * headDim);
    }
    for (const back of this.#backs) {
      for (const [channel, from] of this.#noteMap.entries()) {
        const out = this.#noteChannel(back) + channel;
        for (let i = 0; i < headDim; i++) {
          output[out * heads * headDim + (back - 1) * headDim + i] = notedShare * (from[i] ?? 0);
        }
      }
    }
    this.#sharpen(0, sharpness.previous);
  }

  /** Second layer, head 0: this token and those before it against the notes of every place. */
  matchNotes(): void {
    const { hiddenSize: width, headDim } = this.config;
    const slow = this.#slowRows();
    const queries = this.#layer(1, 'self_attn.q_proj');
    const keys = this.#layer(1, 'self_attn.k_proj');
    queries.fill(0, 0, headDim * width);
    keys.fill(0, 0, headDim * width);
    for (const [at, back] of this.#backs.entries()) {
      const compared = this.#random(slow.length, this.#noteWidth, `compare ${back}`);
      for (const [i, row] of slow.entries()) {
        for (const [channel, drawn] of compared[i]!.entries()) {
          const weight = drawn * Math.sqrt(backWeights[at] ?? 0);
          add(keys, row * width + this.#noteChannel(back) + channel, weight);
          if (back > 1) add(queries, row * width + this.#noteChannel(back - 1) + channel, weight);
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

  /** Second layer, heads of the last key head: what is attended to goes into channels of its own. */
  gather(): void {
    const { hiddenSize: width, headDim, heads, kvHeads, layers, ropeTheta } = this.config;
    if (layers < 3 || kvHeads < 2 || this.#gatheredChannel + headDim >= width) {
      throw new RangeError(
        'Recall needs three layers, two key heads, and additional channels of the width of one head.',
      );
    }
    const half = headDim / 2;
    const first = heads - heads / kvHeads;
    const queries = this.#layer(1, 'self_attn.q_proj');
    const keys = this.#layer(1, 'self_attn.k_proj');
    for (const [pair, radians] of inverseFrequencies(headDim, ropeTheta).entries()) {
      if (radians < nearRadians.least || radians > nearRadians.most) continue;
      add(keys, ((kvHeads - 1) * headDim + pair) * width + width - 1, nearShare);
      for (let head = first; head < heads; head++) {
        const row = (head * headDim + pair) * width + width - 1;
        add(queries, row, nearShare * Math.cos(nearPlaces * radians));
        add(queries, row + half * width, -nearShare * Math.sin(nearPlaces * radians));
      }
    }
    for (let head = first; head < heads; head++) {
      this.#writeHead(1, head, { at: 0, share: 0 });
      this.#writeHead(1, head, { at: this.#gatheredChannel, share: notedShare });
    }
  }

  /** Third layer: from a token to the place that has gathered it, and from a token to what its place has gathered. */
  recall(): void {
    const { heads, kvHeads, layers } = this.config;
    const second = heads - heads / kvHeads;
    for (let layer = 2; layer < layers; layer++) {
      this.#readChannels(layer, kvHeads - 1, this.#gatheredChannel);
    }
    this.#compare({ head: 0, kvHead: 0, keyChannel: this.#gatheredChannel });
    this.#compare({ head: second, kvHead: kvHeads - 1, keyChannel: 0 });
    for (const head of [0, second]) this.#writeHead(2, head, { at: 0, share: recalledShare });
    this.#sharpen(2, sharpness.matching);
  }

  /** A head of the third layer compares the current token with channels of every place. */
  #compare({
    head,
    kvHead,
    keyChannel,
  }: {
    head: number;
    kvHead: number;
    keyChannel: number;
  }): void {
    const { hiddenSize: width, headDim } = this.config;
    const queries = this.#layer(2, 'self_attn.q_proj');
    const keys = this.#layer(2, 'self_attn.k_proj');
    queries.fill(0, head * headDim * width, (head + 1) * headDim * width);
    keys.fill(0, kvHead * headDim * width, (kvHead + 1) * headDim * width);
    const slow = this.#slowRows();
    const compared = this.#random(slow.length, headDim, `recall ${head}`);
    for (const [i, row] of slow.entries()) {
      for (const [channel, weight] of compared[i]!.entries()) {
        add(queries, (head * headDim + row) * width + channel, weight);
        add(keys, (kvHead * headDim + row) * width + keyChannel + channel, weight);
      }
    }
  }

  /** What a head writes goes to channels from `at` on. */
  #writeHead(layer: number, head: number, { at, share }: { at: number; share: number }): void {
    const { headDim, heads } = this.config;
    const output = this.#layer(layer, 'self_attn.o_proj');
    for (let i = 0; i < headDim; i++) {
      output[(at + i) * heads * headDim + head * headDim + i] = share;
    }
  }

  get #gatheredChannel(): number {
    return this.#noteChannel(this.#backs.length + 1);
  }

  /** Rows of a head that hardly turn. */
  #slowRows(): number[] {
    const { headDim, ropeTheta } = this.config;
    return [...inverseFrequencies(headDim, ropeTheta).entries()]
      .filter(([, radians]) => radians < slowRadians)
      .flatMap(([pair]) => [pair, pair + headDim / 2]);
  }

  /** Values of a head are the embedding as it is. */
  #readEmbedding(layer: number, kvHead: number): void {
    this.#readChannels(layer, kvHead, 0);
  }

  #readChannels(layer: number, kvHead: number, from: number): void {
    const { hiddenSize: width, headDim } = this.config;
    const values = this.#layer(layer, 'self_attn.v_proj');
    for (let i = 0; i < headDim; i++) {
      const row = kvHead * headDim + i;
      values.fill(0, row * width, (row + 1) * width);
      values[row * width + from + i] = 1;
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
