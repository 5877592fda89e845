import {
  float,
  type CompileOptions,
  type Engine,
  type Program,
  type SizedProgram,
  type Sizes,
  type TensorData,
  type TensorSpec,
} from '../engine/engine.ts';
import type { Tensor } from '../engine/ops.ts';
import { bucketSize, ProgramCache } from '../engine/program-cache.ts';
import { chunkPlaces, chunkStep } from '../../model/decoder/chunk-step.ts';
import { decodeStep } from '../../model/decoder/decode-step.ts';
import { prefill } from '../../model/decoder/prefill.ts';
import { windowPlaces, windowsOf, windowTokens } from '../../model/decoder/windows.ts';
import { seenByAllBehind, sequenceInputs } from '../../model/decoder/decoder.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { inputSpec, type Weights } from '../../model/config/parameters.ts';
import { allSpecs } from '../../model/adapters/adapter.ts';
import { ropeTablesUpTo, type RopeTables } from '../../model/decoder/rope.ts';
import { drawTokens } from './draw-tokens.ts';
import type { KvCache } from './kv-cache.ts';
import type { KvPrefix, KvShape } from './kv-rows.ts';

/** One step's inputs: the same number of tokens for each row, row by row; rows beyond the active ones hold anything. */
export interface StepInputs {
  tokens: Int32Array;
  /** Position of each row's first token, all of whose tokens are of one window; -1 where the row is idle. */
  positions: Int32Array;
  uniforms: Float32Array;
  /** 0 takes the likeliest token. */
  temperatures: Float32Array;
}

/** What follows every token, [rows * tokens, V] each: log-probabilities, and the sums of probabilities up to each token. */
export interface WholeRows {
  logProbs: Float32Array;
  cumulative: Float32Array;
}

export interface StepResult {
  next: Int32Array;
  logProbs: Float32Array;
  /** When requested. */
  whole?: WholeRows;
  /** Per layer, keys and values of the tokens fed, [rows, kvHeads, tokens, headDim]. */
  fresh: Pick<KvPrefix, 'keys' | 'values'>;
  /** Seconds inside the runtime. */
  runS: number;
  /** Seconds until the program was there. */
  compileS: number;
}

const smallestRows = 4;
/** Of a length of prompts each. */
const programsKept = 32;
const prefillMultiple = 32;

/** Tokens of a context that one program feeds at most to a row that holds some already. */
const chunkTokens = 64;

/** So many tokens or fewer are fed by steps, which other rows share: a program of their own would hardly be faster. */
const leastChunk = 20;

/** How many of some tokens that are to be fed go into the next chunk; 0 where steps cost less. The last is left to a step, which draws. */
export const chunkOf = (pending: number): number =>
  pending <= leastChunk ? 0 : Math.min(chunkTokens, pending - 1);

/** Tokens of a row in a step that feeds guesses too. */
const draftedStep = 4;
/** More logits than these are not computed for the sake of guesses. */
const mostDraftedLogits = 2 ** 23;

/** Logits of a step at most. */
export const logitsOfStep = (rows: number, vocabSize: number): number =>
  vocabSize * Math.max(rows, Math.min(draftedStep * rows, mostDraftedLogits / vocabSize));

/** Logarithms of softmax take the rows of four tokens at once, exponentials and sigmoids 16 numbers. */
const [tokensAtOnce, numbersAtOnce] = [4, 16];

/** Tokens of each row in a step, without guesses and with them. */
export interface Widths {
  least: number;
  most: number;
}

/** The compiled programs of generation and the weights they run with. */
export class DecoderPrograms {
  readonly #prompts = new ProgramCache(programsKept);
  /** Of steps by their tokens a row, and of chunks. */
  readonly #sized = new Map<number | 'chunk', Promise<SizedProgram>>();
  readonly #weightSpecs: readonly TensorSpec[];
  readonly #rope: RopeTables;
  /** 0, 1, 2 ... */
  readonly #positions: Float32Array;
  /** What is fetched of a step where nothing of whole rows is. */
  readonly #drawnOnly: readonly string[];
  #weights: Readonly<Record<string, TensorData>> = {};

  constructor(
    private readonly engine: Engine,
    private readonly config: ModelConfig,
    maxPositions: number,
    /** With `threads`, programs take so many and leave the processors to tools and sandboxes between operations. */
    private readonly compileOptions: Pick<CompileOptions, 'threads'> = {},
  ) {
    this.#weightSpecs = allSpecs(config).map(inputSpec);
    const layers = Array.from({ length: config.layers }, (_, layer) => layer);
    const fresh = layers.flatMap((layer) => [`k${layer}`, `v${layer}`]);
    this.#drawnOnly = ['next', 'logProbs', ...fresh];
    const most = Math.ceil(maxPositions / prefillMultiple) * prefillMultiple * 2;
    this.#positions = Float32Array.from({ length: most }, (_, position) => position);
    this.#rope = ropeTablesUpTo(config, most);
  }

  get vocabSize(): number {
    return this.config.vocabSize;
  }

  get kvShape(): Omit<KvShape, 'capacity'> {
    const { layers, kvHeads, headDim } = this.config;
    return { layers, kvHeads, headDim };
  }

  /**
   * Rows that a step of some tokens a row computes for `count` active ones. Operators take several tokens, and several numbers, at
   * once and treat what is left otherwise, with other last bits, so that nothing is left.
   */
  rowsOf(count: number, width: number): number {
    const { vocabSize, intermediateSize } = this.config;
    const leavesSome = (rows: number): boolean =>
      (rows * width) % tokensAtOnce !== 0 ||
      [vocabSize, intermediateSize].some((size) => (rows * width * size) % numbersAtOnce !== 0);
    let multiple = 1;
    while (leavesSome(multiple)) multiple *= 2;
    return multiple * Math.ceil(count / multiple);
  }

  /**
   * Tokens of each row in a step for so many rows. A product of one row would have other last bits than those of several, so that there
   * are several tokens where there are few rows or each key head has one query head.
   */
  widths(count: number): Widths {
    const { heads, kvHeads, vocabSize } = this.config;
    const single = heads === kvHeads ? 2 : 1;
    const least = count < smallestRows ? draftedStep : single;
    const fits = draftedStep * count * vocabSize <= mostDraftedLogits;
    return { least, most: fits ? draftedStep : least };
  }

  async setWeights(parameters: Weights): Promise<void> {
    this.#weights = Object.fromEntries(parameters);
  }

  /** Keys and values of a prompt. */
  async prefill(tokens: readonly number[]): Promise<KvPrefix> {
    const { headDim } = this.config;
    const length = bucketSize(tokens.length, { multipleOf: prefillMultiple, growth: 1.25 });
    const program = await this.#prompts.get(`${length}`, () => this.#compilePrefill(length));
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
    cache.enter(row, length);
    const { capacity } = cache;
    // Sums over places have the same bits only where these are whole windows.
    const count = Math.ceil(tokens.length / windowTokens) * windowTokens;
    const padded = new Int32Array(count);
    padded.set(tokens);
    const program = await this.#sizedProgram('chunk');
    const given = {
      ...this.#weights,
      ...this.#rotations([length], count),
      ...windowsOf(Array.from({ length: count }, (_, place) => length + place)),
      ...this.#cached(cache, { first: row, rows: 1 }),
      ...chunkPlaces(length, { count, capacity }),
      tokens: padded,
    };
    const outputs = await program.run(given, { sizes: { count, capacity } });
    return this.#prefixOf(outputs, tokens.length);
  }

  /**
   * Feeds some tokens to each row and draws what follows each.
   *
   * @param options with `wholeRows`, what every token is drawn from is fetched too
   */
  async step(
    inputs: StepInputs,
    { cache, wholeRows }: { cache: KvCache; wholeRows: boolean },
  ): Promise<StepResult> {
    const { layers, kvHeads } = this.config;
    for (const [row, position] of inputs.positions.entries())
      if (position >= 0) cache.enter(row, position);
    const { capacity } = cache;
    const { tokens, uniforms, temperatures } = inputs;
    const places = inputs.positions.map((position) => Math.max(0, position));
    const rows = places.length;
    const width = tokens.length / rows;
    const asked = performance.now();
    const program = await this.#sizedProgram(width);
    const compileS = (performance.now() - asked) / 1000;
    const feeds: Record<string, TensorData> = {
      ...this.#weights,
      ...this.#rotations(places, width),
      ...windowsOf(places),
      places: windowPlaces(places, { kvHeads, count: width }),
      positions: this.#positions.subarray(0, capacity),
      ...this.#cached(cache, { rows }),
      tokens,
      uniforms,
      temperatures,
    };
    const started = performance.now();
    const outputs = await program.run(feeds, {
      sizes: { rows, capacity },
      ...(!wholeRows && { wanted: this.#drawnOnly }),
    });
    const runS = (performance.now() - started) / 1000;
    const ofLayers = (kind: 'k' | 'v'): Float32Array[] =>
      Array.from({ length: layers }, (_, layer) => outputs[`${kind}${layer}`] as Float32Array);
    const whole = wholeRows && {
      logProbs: outputs['whole'] as Float32Array,
      cumulative: outputs['cumulative'] as Float32Array,
    };
    return {
      next: outputs['next'] as Int32Array,
      logProbs: outputs['logProbs'] as Float32Array,
      ...(whole && { whole }),
      fresh: { keys: ofLayers('k'), values: ofLayers('v') },
      runS,
      compileS,
    };
  }

  /** Of `width` tokens from each of some positions on. */
  #rotations(positions: ArrayLike<number>, width: number) {
    const { headDim } = this.config;
    const size = width * headDim;
    const cos = new Float32Array(positions.length * size);
    const sin = new Float32Array(positions.length * size);
    for (let row = 0; row < positions.length; row++) {
      const from = positions[row]! * headDim;
      cos.set(this.#rope.cos.subarray(from, from + size), row * size);
      sin.set(this.#rope.sin.subarray(from, from + size), row * size);
    }
    return { cos, sin };
  }

  /** What some rows hold. */
  #cached({ past, recent }: KvCache, { first = 0, rows }: { first?: number; rows: number }) {
    const feeds: Record<string, TensorData> = {};
    for (let layer = 0; layer < this.config.layers; layer++) {
      const [before, own] = [past, recent].map((some) => some.view(layer, rows, first));
      feeds[`pastK${layer}`] = before!.keys;
      feeds[`pastV${layer}`] = before!.values;
      feeds[`recentK${layer}`] = own!.keys;
      feeds[`recentV${layer}`] = own!.values;
    }
    return feeds;
  }

  async dispose(): Promise<void> {
    const sized = await Promise.all(this.#sized.values());
    this.#sized.clear();
    await Promise.all([this.#prompts.clear(), ...sized.map((program) => program.dispose())]);
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

  #sizedProgram(kind: number | 'chunk'): Promise<SizedProgram> {
    const known = this.#sized.get(kind);
    if (known !== undefined) return known;
    const made = kind === 'chunk' ? this.#compileChunk() : this.#compileStep(kind);
    this.#sized.set(kind, made);
    // A failure is not remembered.
    made.catch(() => this.#sized.delete(kind));
    return made;
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
    const name = `prompt of ${length} tokens`;
    return this.engine.compile(
      specs,
      (inputs) => byLayer(prefill(this.config, inputs, sequenceInputs(inputs))),
      { ...this.compileOptions, name },
    );
  }

  #compileChunk(): Promise<SizedProgram> {
    const { layers } = this.config;
    const at = ({ count, capacity }: Sizes<'count' | 'capacity'>) => {
      const places = count + windowTokens + capacity;
      return {
        specs: [
          ...this.#weightSpecs,
          ...placeSpecs(this.config, { count, rows: count, places, positions: places }),
          ...cacheSpecs(this.config, { rows: [], capacity }),
        ],
        body: (inputs: Record<string, Tensor>) =>
          byLayer(chunkStep(this.config, inputs, placedInputs(inputs, layers))),
      };
    };
    return this.engine.compileSized(at, ['count', 'capacity'], {
      ...this.compileOptions,
      name: 'tokens of one context',
      runName: ({ count }) => `${count} tokens of one context`,
    });
  }

  #compileStep(width: number): Promise<SizedProgram> {
    const of = width === 1 ? '' : ` of ${width} tokens`;
    const at = ({ rows, capacity }: Sizes<'rows' | 'capacity'>) => ({
      specs: this.#stepSpecs({ rows, width, capacity }),
      body: (inputs: Record<string, Tensor>) => this.#step(inputs),
    });
    return this.engine.compileSized(at, ['rows', 'capacity'], {
      ...this.compileOptions,
      name: `step of rows${of}`,
      runName: ({ rows }) => `step of ${rows} rows${of}`,
    });
  }

  #step(inputs: Record<string, Tensor>): Record<string, Tensor> {
    const input = (named: string): Tensor => inputs[named] as Tensor;
    const { logits, fresh } = decodeStep(
      this.config,
      inputs,
      placedInputs(inputs, this.config.layers),
    );
    const drawn = drawTokens(logits, input('uniforms'), input('temperatures'));
    return {
      next: drawn.next,
      logProbs: drawn.logProbs,
      whole: drawn.distribution,
      cumulative: drawn.cumulative,
      ...byLayer(fresh),
    };
  }

  #stepSpecs({ rows, width, capacity }: StepShape): TensorSpec[] {
    const count = rows * width;
    const places = rows * this.config.kvHeads * windowTokens;
    return [
      ...this.#weightSpecs,
      ...placeSpecs(this.config, { count, rows, places, positions: capacity }),
      ...cacheSpecs(this.config, { rows: [rows], capacity }),
      float('uniforms', [count]),
      float('temperatures', [count]),
    ];
  }
}

interface StepShape {
  rows: number;
  /** Tokens of a row. */
  width: number;
  capacity: number;
}

/** What says which tokens are fed and where they stand. */
const placeSpecs = (
  { headDim }: ModelConfig,
  of: { count: number; rows: number; places: number; positions: number },
) => [
  { name: 'tokens', shape: [of.count], dtype: 'int32' } as const,
  { name: 'places', shape: [of.places], dtype: 'int32' } as const,
  float('positions', [of.positions]),
  float('cos', [of.count, headDim]),
  float('sin', [of.count, headDim]),
  float('starts', [of.rows]),
  float('offsets', [of.rows]),
];

function placedInputs(inputs: Readonly<Record<string, Tensor>>, layers: number) {
  const input = (name: string): Tensor => inputs[name] as Tensor;
  const ofLayers = (kind: string) =>
    Array.from({ length: layers }, (_, layer) => ({
      keys: input(`${kind}K${layer}`),
      values: input(`${kind}V${layer}`),
    }));
  return {
    tokens: input('tokens'),
    cos: input('cos'),
    sin: input('sin'),
    starts: input('starts'),
    offsets: input('offsets'),
    places: input('places'),
    positions: input('positions'),
    past: ofLayers('past'),
    recent: ofLayers('recent'),
  };
}

const byLayer = (layers: readonly { keys: Tensor; values: Tensor }[]): Record<string, Tensor> =>
  Object.fromEntries(
    layers.flatMap(({ keys, values }, layer) => [
      [`k${layer}`, keys],
      [`v${layer}`, values],
    ]),
  );

function cacheSpecs(
  { layers, kvHeads, headDim }: ModelConfig,
  { rows, capacity }: { rows: readonly number[]; capacity: number },
): TensorSpec[] {
  const past = [...rows, kvHeads, capacity, headDim];
  const recent = [...rows, kvHeads, windowTokens, headDim];
  return Array.from({ length: layers }, (_, layer) => [
    float(`pastK${layer}`, past),
    float(`pastV${layer}`, past),
    float(`recentK${layer}`, recent),
    float(`recentV${layer}`, recent),
  ]).flat();
}

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
