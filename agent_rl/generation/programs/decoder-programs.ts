import type { CompileOptions, Engine, SizedProgram, TensorData } from '../../engine/engine.ts';
import { bucketSize, ProgramCache } from '../../engine/program-cache.ts';
import { sameData } from '../../engine/same-data.ts';
import { byTraining } from '../../../model/adapters/adapter.ts';
import { seenByAllBehind } from '../../../model/decoder/decoder.ts';
import { ropeTablesUpTo, type RopeTables } from '../../../model/decoder/rope.ts';
import { windowPlaces, windowsOf } from '../../../model/decoder/windows.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import type { Weights } from '../../../model/config/parameters.ts';
import type { KvCache } from '../cache/kv-cache.ts';
import type { KvPrefix, KvShape } from '../cache/kv-rows.ts';
import { compileStep, compileSteps, compilePrompt } from './step-program.ts';
import type { StepInputs, StepResult, StepsInputs, StepsResult } from './step-result.ts';
import {
  drawsOf,
  fillsWindows,
  inSixteens,
  stepsOfRun,
  tokensOf,
  type Widths,
  widthsOf,
} from './step-sizes.ts';

/** Whether two sets have the same tensors with the same values. */
const sameValues = (
  a: Readonly<Record<string, TensorData>>,
  b: Readonly<Record<string, TensorData>>,
): boolean => {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => b[name] !== undefined && sameData(a[name]!, b[name]))
  );
};

/** Of a length of prompts each. */
const programsKept = 32;
/** The same, where each holds weights. */
const programsHeld = 4;
const prefillMultiple = 32;

/** With `threads`, programs take that number and leave the processors to tools and sandboxes between operations. */
export interface DecoderProgramsOptions extends Pick<CompileOptions, 'threads'> {
  /** Steps of a run at most; several by default where a run copies its inputs to the device. */
  stepsAtOnce?: number;
  /** Whether weights are trained in between, as is supposed where it is absent. Otherwise programs may hold all of them. */
  trains?: boolean | undefined;
  /**
   * What the program of steps holds, packed, as `packsWeights` decides: few rows are drawn up to twice as fast. Results differ, in floating
   * point, from weights that are passed to each run.
   */
  packs?: Packed | undefined;
}

/** All weights, or those that stay as they are while the adapter over them is trained. */
export type Packed = 'all' | 'under the adapter';

/** What is drawn by a step, or by several in one run. */
type Kind = 'step' | 'steps';

/** The compiled programs of generation and the weights they run with. */
export class DecoderPrograms {
  #prompts = new ProgramCache(programsKept);
  readonly #sized = new Map<Kind, Promise<SizedProgram>>();
  readonly #rope: RopeTables;
  /** 0, 1, 2 ... */
  readonly #positions: Float32Array;
  /** What is fetched of a step where nothing of whole rows is. */
  readonly #drawnOnly: readonly string[];
  /** Steps of a run at most. */
  readonly stepsAtOnce: number;
  readonly #compileOptions: CompileOptions;
  readonly #trains: boolean;
  readonly #packs: Packed | undefined;
  #weights: Readonly<Record<string, TensorData>> = {};
  /** Those that steps are given, beside what their program holds. */
  #given: Readonly<Record<string, TensorData>> = {};
  /** What programs are compiled with: on the processor only the program of steps, or each length of prompts would have a copy. */
  #held: Readonly<Record<string, TensorData>> = {};

  constructor(
    private readonly engine: Engine,
    private readonly config: ModelConfig,
    maxPositions: number,
    {
      stepsAtOnce = engine.copiesInputs ? stepsOfRun : 1,
      trains = true,
      packs,
      ...compileOptions
    }: DecoderProgramsOptions = {},
  ) {
    this.stepsAtOnce = stepsAtOnce;
    this.#trains = trains;
    this.#packs = packs;
    this.#compileOptions = compileOptions;
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

  /** As `tokensOf`. */
  tokensOf(count: number): number {
    return this.#takesAny ? count : tokensOf(this.config, count);
  }

  /** As `drawsOf`. */
  drawsOf(count: number): number {
    return drawsOf(this.config, count);
  }

  /** As `widthsOf`. */
  widths(count: number): Widths {
    return widthsOf(this.config, count);
  }

  /** As `fillsWindows`; what draws from less than a whole distribution has one step a run. */
  fillsWindows({
    pending,
    isTruncated,
  }: {
    pending: readonly number[];
    isTruncated: boolean;
  }): boolean {
    return fillsWindows(this.config, pending.length, isTruncated ? 1 : this.stepsAtOnce);
  }

  /** Whether a step of few tokens has the bits of a step of many: a product that is not packed has others of one row. */
  get #takesAny(): boolean {
    return this.#packs === 'all' && inSixteens(this.config);
  }

  /**
   * Weights to compute with from now on. Programs hold those that are packed and, where runs copy their inputs, those that training
   * leaves as they are: other values compile programs anew, and the arrays must not be written to.
   */
  async setWeights(parameters: Weights): Promise<void> {
    const frozen = this.#frozenOf(parameters);
    this.#weights = Object.fromEntries(parameters);
    this.#given = Object.fromEntries([...parameters].filter(([name]) => !(name in frozen)));
    if (sameValues(frozen, this.#held)) return;
    this.#held = frozen;
    await this.dispose();
  }

  #frozenOf(weights: Weights): Readonly<Record<string, TensorData>> {
    if (this.engine.copiesInputs) return byTraining(this.config, weights, this.#trains).frozen;
    if (this.#packs === undefined) return {};
    return byTraining(this.config, weights, this.#packs === 'under the adapter').frozen;
  }

  /** Keys and values of a prompt. */
  async prefill(tokens: readonly number[]): Promise<KvPrefix> {
    const { headDim } = this.config;
    const length = bucketSize(tokens.length, { multipleOf: prefillMultiple, growth: 1.25 });
    const { copiesInputs } = this.engine;
    const constants = copiesInputs ? this.#held : {};
    const program = await this.#prompts.get(`${length}`, () =>
      compilePrompt(this.engine, this.config, length, { ...this.#compileOptions, constants }),
    );
    const padded = new Int32Array(length);
    padded.set(tokens);
    const size = length * headDim;
    const outputs = await program.run({
      ...(copiesInputs ? this.#given : this.#weights),
      tokens: padded,
      cos: this.#rope.cos.subarray(0, size),
      sin: this.#rope.sin.subarray(0, size),
      seenUpTo: seenByAllBehind(length),
    });
    return this.#prefixOf(outputs, tokens.length);
  }

  /**
   * Feeds some tokens to each row and draws after some of them.
   *
   * @param options with `wholeRows`, what every token is drawn from is fetched too
   */
  async step(
    inputs: StepInputs,
    { cache, wholeRows }: { cache: KvCache; wholeRows: boolean },
  ): Promise<StepResult> {
    const { kvHeads } = this.config;
    for (const [row, position] of inputs.positions.entries())
      if (position >= 0) cache.enter(row, position);
    const { capacity } = cache;
    const { width, tokens, taken, drawnAfter, uniforms, temperatures } = inputs;
    const places = inputs.positions.map((position) => Math.max(0, position));
    const rows = places.length;
    const laidOut = new Int32Array(rows * width);
    // The first token of a place is the one that was meant.
    for (let token = taken.length - 1; token >= 0; token--) laidOut[taken[token]!] = token;
    const stands = taken.map((place) => places[Math.floor(place / width)]! + (place % width));
    const program = await this.#sizedProgram('step');
    const feeds: Record<string, TensorData> = {
      ...this.#given,
      ...this.#rotations(stands),
      ...windowsOf(places),
      laidOut,
      taken,
      places: windowPlaces(places, { kvHeads, count: width }),
      positions: this.#positions.subarray(0, capacity),
      steps: this.#positions.subarray(0, width),
      ...this.#cached(cache, rows),
      tokens,
      drawnAfter,
      uniforms,
      temperatures,
    };
    const started = performance.now();
    const outputs = await program.run(feeds, {
      sizes: { rows, width, tokens: tokens.length, capacity, draws: drawnAfter.length },
      wanted: wholeRows ? undefined : this.#drawnOnly,
    });
    const runS = (performance.now() - started) / 1000;
    const whole = {
      logProbs: outputs['whole'] as Float32Array,
      cumulative: outputs['cumulative'] as Float32Array,
    };
    return {
      next: outputs['next'] as Int32Array,
      logProbs: outputs['logProbs'] as Float32Array,
      whole: wholeRows ? whole : undefined,
      fresh: this.#freshOf(outputs),
      runS,
    };
  }

  /** Several steps of rows that draw from whole distributions, whose tokens are drawn where they are computed. */
  async steps(inputs: StepsInputs, cache: KvCache): Promise<StepsResult> {
    const { tokens, uniforms, temperatures, positions } = inputs;
    for (const [row, position] of positions.entries())
      if (position >= 0) cache.enter(row, position);
    const { capacity } = cache;
    const places = positions.map((position) => Math.max(0, position));
    const rows = places.length;
    const steps = tokens.length / rows;
    const stands = Int32Array.from(tokens, (_, at) => places[at % rows]! + Math.floor(at / rows));
    const program = await this.#sizedProgram('steps');
    const started = performance.now();
    const outputs = await program.run(
      {
        ...this.#given,
        ...this.#rotations(stands),
        ...windowsOf(places),
        steps: this.#positions.subarray(0, steps),
        positions: this.#positions.subarray(0, capacity),
        ...this.#cached(cache, rows),
        tokens,
        uniforms,
        temperatures,
      },
      { sizes: { steps, rows, capacity } },
    );
    return {
      next: outputs['next'] as Int32Array,
      logProbs: outputs['logProbs'] as Float32Array,
      fresh: this.#freshOf(outputs),
      runS: (performance.now() - started) / 1000,
    };
  }

  /** Keys and values that a run made, layer by layer, or a part of each. */
  #freshOf(
    outputs: Readonly<Record<string, TensorData>>,
    part = (whole: Float32Array): Float32Array => whole,
  ): Pick<KvPrefix, 'keys' | 'values'> {
    const ofLayers = (kind: 'k' | 'v'): Float32Array[] =>
      Array.from({ length: this.config.layers }, (_, layer) =>
        part(outputs[`${kind}${layer}`] as Float32Array),
      );
    return { keys: ofLayers('k'), values: ofLayers('v') };
  }

  #rotations(positions: ArrayLike<number>) {
    const { headDim: size } = this.config;
    const cos = new Float32Array(positions.length * size);
    const sin = new Float32Array(positions.length * size);
    for (let token = 0; token < positions.length; token++) {
      const from = positions[token]! * size;
      cos.set(this.#rope.cos.subarray(from, from + size), token * size);
      sin.set(this.#rope.sin.subarray(from, from + size), token * size);
    }
    return { cos, sin };
  }

  /** What the first rows hold. */
  #cached({ past, recent }: KvCache, rows: number) {
    const feeds: Record<string, TensorData> = {};
    for (let layer = 0; layer < this.config.layers; layer++) {
      const [before, own] = [past, recent].map((some) => some.view(layer, rows));
      feeds[`pastK${layer}`] = before!.keys;
      feeds[`pastV${layer}`] = before!.values;
      feeds[`recentK${layer}`] = own!.keys;
      feeds[`recentV${layer}`] = own!.values;
    }
    return feeds;
  }

  /** What is asked for meanwhile is compiled anew. */
  async dispose(): Promise<void> {
    const [prompts, sized] = [this.#prompts, [...this.#sized.values()]];
    const holds = this.engine.copiesInputs && Object.keys(this.#held).length > 0;
    this.#prompts = new ProgramCache(holds ? programsHeld : programsKept);
    this.#sized.clear();
    // Who waits for one of these has its turn before; no prompt is waited for while weights are set. The caller has received a failure.
    const disposed = sized.map((made) =>
      made.then(
        (program) => program.dispose(),
        () => {},
      ),
    );
    await Promise.all([prompts.clear(), ...disposed]);
  }

  /** The keys and values of the first `length` tokens, without the padding that follows them. */
  #prefixOf(outputs: Readonly<Record<string, TensorData>>, length: number): KvPrefix {
    const { kvHeads: heads, headDim } = this.config;
    const kept = length * headDim;
    return { length, ...this.#freshOf(outputs, (whole) => firstOfHeads(whole, { heads, kept })) };
  }

  #sizedProgram(kind: Kind): Promise<SizedProgram> {
    const known = this.#sized.get(kind);
    if (known !== undefined) return known;
    const made = this.#compile(kind);
    this.#sized.set(kind, made);
    // A failure is not remembered.
    made.catch(() => {
      if (this.#sized.get(kind) === made) this.#sized.delete(kind);
    });
    return made;
  }

  #compile(kind: Kind): Promise<SizedProgram> {
    const options = { ...this.#compileOptions, constants: this.#held };
    const compile = kind === 'steps' ? compileSteps : compileStep;
    return compile(this.engine, this.config, options);
  }
}

/** The first `kept` numbers of each head of [heads, ...], without the padding that follows them. */
function firstOfHeads(
  whole: Float32Array,
  { heads, kept }: { heads: number; kept: number },
): Float32Array {
  const size = whole.length / heads;
  const part = new Float32Array(heads * kept);
  for (let head = 0; head < heads; head++)
    part.set(whole.subarray(head * size, head * size + kept), head * kept);
  return part;
}
