import {
  float,
  type CompileOptions,
  type Engine,
  type Program,
  type ProgramBody,
  type TensorData,
  type TensorSpec,
} from '../engine/engine.ts';
import type { Tensor } from '../engine/ops.ts';
import { bucketSize, ProgramCache } from '../engine/program-cache.ts';
import {
  chunkMask,
  chunkPlaces,
  chunkStep,
  decodeStep,
  prefill,
} from '../../model/decoder/decode-step.ts';
import { seenByAllBehind, sequenceInputs } from '../../model/decoder/decoder.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { inputSpec, type Weights } from '../../model/config/parameters.ts';
import { allSpecs } from '../../model/adapters/adapter.ts';
import { ropeTablesUpTo, type RopeTables } from '../../model/decoder/rope.ts';
import { drawTokens } from './draw-tokens.ts';
import type { KvCache, KvPrefix, KvShape } from './kv-cache.ts';

/** One step's inputs, one entry per row; rows beyond the active ones hold anything. */
export interface StepInputs {
  tokens: Int32Array;
  /** Position of the token being fed; -1 where the row is idle. */
  positions: Int32Array;
  uniforms: Float32Array;
  /** 0 takes the likeliest token. */
  temperatures: Float32Array;
  /** [rows, capacity + 1], added to the attention scores. */
  mask: Float32Array;
}

/** What every row's token is drawn from, [rows, V] each: log-probabilities, and the sums of probabilities up to each token. */
export interface WholeRows {
  logProbs: Float32Array;
  cumulative: Float32Array;
}

export interface StepResult {
  next: Int32Array;
  logProbs: Float32Array;
  /** When requested. */
  whole?: WholeRows;
  /** Per layer, keys and values of the tokens fed, [rows, kvHeads, 1, headDim]. */
  fresh: readonly { keys: Float32Array; values: Float32Array }[];
  /** Seconds inside the runtime. */
  runS: number;
}

const smallestRows = 4;
/** Of a row bucket, a capacity and whether whole rows are fetched: a run comes back to all of them in each iteration. */
const programsKept = 128;
const prefillMultiple = 32;

/** Tokens of a context that one program feeds at most to a row that holds some already: the few fit the smaller program. */
const [fewTokens, chunkTokens] = [32, 64];

/** So many tokens or fewer are fed by steps, which other rows share: a program of their own would hardly be faster. */
const leastChunk = 20;

/** How many of some tokens that are to be fed go into the next chunk; 0 where steps cost less. The last is left to a step, which draws. */
export const chunkOf = (pending: number): number =>
  pending <= leastChunk ? 0 : Math.min(chunkTokens, pending - 1);

/** The compiled programs of generation and the weights they run with. */
export class DecoderPrograms {
  readonly #programs = new ProgramCache(programsKept);
  readonly #weightSpecs: readonly TensorSpec[];
  readonly #rope: RopeTables;
  #weights: Readonly<Record<string, TensorData>> = {};

  constructor(
    private readonly engine: Engine,
    private readonly config: ModelConfig,
    maxPositions: number,
    /** With `threads`, programs take so many and leave the processors to tools and sandboxes between operations. */
    private readonly compileOptions: Pick<CompileOptions, 'threads'> = {},
  ) {
    this.#weightSpecs = allSpecs(config).map(inputSpec);
    this.#rope = ropeTablesUpTo(
      config,
      Math.ceil(maxPositions / prefillMultiple) * prefillMultiple * 2,
    );
  }

  get vocabSize(): number {
    return this.config.vocabSize;
  }

  get kvShape(): Omit<KvShape, 'capacity'> {
    const { layers, kvHeads, headDim } = this.config;
    return { layers, kvHeads, headDim };
  }

  /** Rows a step is run with for `count` active ones: a power of two or, from 16 on, half as much again; never 1, whose last bits would differ. */
  rowBucket(count: number): number {
    const power = Math.max(smallestRows, 2 ** Math.ceil(Math.log2(Math.max(1, count))));
    const between = 0.75 * power;
    return between >= 1.5 * 16 && count <= between ? between : power;
  }

  async setWeights(parameters: Weights): Promise<void> {
    this.#weights = Object.fromEntries(parameters);
  }

  /** Keys and values of a prompt. */
  async prefill(tokens: readonly number[]): Promise<KvPrefix> {
    const { headDim } = this.config;
    const length = bucketSize(tokens.length, { multipleOf: prefillMultiple, growth: 1.25 });
    const program = await this.#programs.get(`prefill ${length}`, () =>
      this.#compilePrefill(length),
    );
    const padded = new Int32Array(length);
    padded.set(tokens);
    const size = length * headDim;
    const outputs = await program.run({
      ...this.#weights,
      tokens: padded,
      cos: this.#rope.cos.subarray(0, size),
      sin: this.#rope.sin.subarray(0, size),
      seenUpTo: seenByAllBehind(length),
    });
    return this.#prefixOf(outputs, tokens.length);
  }

  /**
   * Keys and values of tokens that follow the `length` that a row holds: as many as `chunkOf` says, which fit into the cache
   * in use. The bits are those of feeding them one by one.
   */
  async chunk(
    tokens: readonly number[],
    { cache, row, length }: { cache: KvCache; row: number; length: number },
  ): Promise<KvPrefix> {
    const { layers, headDim } = this.config;
    const { capacity } = cache;
    const size = tokens.length <= fewTokens ? fewTokens : chunkTokens;
    const program = await this.#programs.get(`chunk ${size} ${capacity}`, () =>
      this.#compileChunk(size, capacity),
    );
    const padded = new Int32Array(size);
    padded.set(tokens);
    const rope = (table: Float32Array) =>
      table.subarray(length * headDim, (length + size) * headDim);
    const feeds: Record<string, TensorData> = {
      ...this.#weights,
      tokens: padded,
      cos: rope(this.#rope.cos),
      sin: rope(this.#rope.sin),
      mask: chunkMask(length, size, capacity),
      places: chunkPlaces(length, tokens.length, capacity),
    };
    for (let layer = 0; layer < layers; layer++) {
      const { keys, values } = cache.row(layer, row);
      feeds[`pastK${layer}`] = keys;
      feeds[`pastV${layer}`] = values;
    }
    const outputs = await program.run(feeds);
    return this.#prefixOf(outputs, tokens.length);
  }

  /**
   * Feeds one token per row and draws the next.
   *
   * @param options with `wholeRows`, what every row's token is drawn from is fetched too
   */
  async step(
    inputs: StepInputs,
    { cache, rows, wholeRows }: { cache: KvCache; rows: number; wholeRows: boolean },
  ): Promise<StepResult> {
    const { layers, headDim } = this.config;
    const { capacity } = cache;
    const program = await this.#programs.get(`step ${rows} ${capacity} ${wholeRows}`, () =>
      this.#compileStep(rows, capacity, wholeRows),
    );
    const cos = new Float32Array(rows * headDim);
    const sin = new Float32Array(rows * headDim);
    for (const [row, position] of inputs.positions.entries()) {
      const from = Math.max(0, position) * headDim;
      cos.set(this.#rope.cos.subarray(from, from + headDim), row * headDim);
      sin.set(this.#rope.sin.subarray(from, from + headDim), row * headDim);
    }
    const { tokens, mask, uniforms, temperatures } = inputs;
    const own = { tokens, cos, sin, mask, uniforms, temperatures };
    const feeds: Record<string, TensorData> = { ...this.#weights, ...own };
    for (let layer = 0; layer < layers; layer++) {
      const { keys, values } = cache.view(layer, rows);
      feeds[`pastK${layer}`] = keys;
      feeds[`pastV${layer}`] = values;
    }
    const started = performance.now();
    const outputs = await program.run(feeds);
    const runS = (performance.now() - started) / 1000;
    const fresh = Array.from({ length: layers }, (_, layer) => ({
      keys: outputs[`k${layer}`] as Float32Array,
      values: outputs[`v${layer}`] as Float32Array,
    }));
    const whole = wholeRows && {
      logProbs: outputs['whole'] as Float32Array,
      cumulative: outputs['cumulative'] as Float32Array,
    };
    return {
      next: outputs['next'] as Int32Array,
      logProbs: outputs['logProbs'] as Float32Array,
      ...(whole && { whole }),
      fresh,
      runS,
    };
  }

  async dispose(): Promise<void> {
    await this.#programs.clear();
  }

  /** The keys and values of the first `length` tokens, without the padding that follows them. */
  #prefixOf(outputs: Readonly<Record<string, TensorData>>, length: number): KvPrefix {
    const { layers, kvHeads, headDim } = this.config;
    const perLayer = (kind: 'k' | 'v'): Float32Array[] =>
      Array.from({ length: layers }, (_, layer) => {
        const whole = outputs[`${kind}${layer}`] as Float32Array;
        return firstOfEach(whole, { heads: kvHeads, kept: length * headDim });
      });
    return { length, keys: perLayer('k'), values: perLayer('v') };
  }

  #compile(name: string, specs: readonly TensorSpec[], body: ProgramBody): Promise<Program> {
    return this.engine.compile(specs, body, { ...this.compileOptions, name });
  }

  #compilePrefill(length: number): Promise<Program> {
    const { headDim } = this.config;
    const specs: TensorSpec[] = [
      ...this.#weightSpecs,
      { name: 'tokens', shape: [1, length], dtype: 'int32' },
      float('cos', [length, headDim]),
      float('sin', [length, headDim]),
      { name: 'seenUpTo', shape: [1, length], dtype: 'int32' },
    ];
    return this.#compile(`prompt of ${length} tokens`, specs, (inputs) =>
      byLayer(prefill(this.config, inputs, sequenceInputs(inputs))),
    );
  }

  #compileChunk(size: number, capacity: number): Promise<Program> {
    const { headDim, kvHeads, layers } = this.config;
    const past = [kvHeads, capacity, headDim];
    const specs: TensorSpec[] = [
      ...this.#weightSpecs,
      { name: 'tokens', shape: [size], dtype: 'int32' },
      { name: 'places', shape: [capacity], dtype: 'int32' },
      float('cos', [size, headDim]),
      float('sin', [size, headDim]),
      float('mask', [size, capacity + 1]),
      ...pastSpecs(layers, past),
    ];
    return this.#compile(`${size} tokens of one context`, specs, (inputs) =>
      byLayer(
        chunkStep(this.config, inputs, {
          ...tokenInputs(inputs),
          places: inputs['places'] as Tensor,
          past: pastOf(inputs, layers),
        }),
      ),
    );
  }

  #compileStep(rows: number, capacity: number, wholeRows: boolean): Promise<Program> {
    const { headDim, kvHeads, layers } = this.config;
    const past = [rows, kvHeads, capacity, headDim];
    const specs: TensorSpec[] = [
      ...this.#weightSpecs,
      { name: 'tokens', shape: [rows], dtype: 'int32' },
      float('cos', [rows, headDim]),
      float('sin', [rows, headDim]),
      float('mask', [rows, 1, 1, capacity + 1]),
      float('uniforms', [rows]),
      float('temperatures', [rows]),
      ...pastSpecs(layers, past),
    ];
    return this.#compile(`step of ${rows} rows`, specs, (inputs) => {
      const input = (name: string): Tensor => inputs[name] as Tensor;
      const { logits, fresh } = decodeStep(this.config, inputs, {
        ...tokenInputs(inputs),
        past: pastOf(inputs, layers),
      });
      const drawn = drawTokens(logits, input('uniforms'), input('temperatures'));
      return {
        next: drawn.next,
        logProbs: drawn.logProbs,
        ...(wholeRows && { whole: drawn.distribution, cumulative: drawn.cumulative }),
        ...byLayer(fresh),
      };
    });
  }
}

/** What is read of tokens that follow a past. */
const tokenInputs = ({ tokens, cos, sin, mask }: Readonly<Record<string, Tensor>>) => ({
  tokens: tokens!,
  cos: cos!,
  sin: sin!,
  mask: mask!,
});

const byLayer = (layers: readonly { keys: Tensor; values: Tensor }[]): Record<string, Tensor> =>
  Object.fromEntries(
    layers.flatMap(({ keys, values }, layer) => [
      [`k${layer}`, keys],
      [`v${layer}`, values],
    ]),
  );

const pastSpecs = (layers: number, shape: readonly number[]): TensorSpec[] =>
  Array.from({ length: layers }, (_, layer) => [
    float(`pastK${layer}`, shape),
    float(`pastV${layer}`, shape),
  ]).flat();

const pastOf = (inputs: Readonly<Record<string, Tensor>>, layers: number) =>
  Array.from({ length: layers }, (_, layer) => ({
    keys: inputs[`pastK${layer}`] as Tensor,
    values: inputs[`pastV${layer}`] as Tensor,
  }));

/** The first `kept` numbers of each head of [heads, ...], without the padding that follows them. */
function firstOfEach(
  whole: Float32Array,
  { heads, kept }: { heads: number; kept: number },
): Float32Array {
  const size = whole.length / heads;
  const part = new Float32Array(heads * kept);
  for (let head = 0; head < heads; head++)
    part.set(whole.subarray(head * size, head * size + kept), head * kept);
  return part;
}
