import { AgentRlError } from '../core/errors.ts';
import { isRecord } from '../core/is-record.ts';
import { enterPlugin } from '../core/plugins/entered-plugin.ts';
import { pluginFailure } from '../core/plugins/plugin-failure.ts';
import type {
  Generation,
  GenerationRequest,
  GenerationTotals,
  Generator,
  GeneratorInfo,
} from '../core/services/generator.ts';
import type { Scorer } from '../core/services/scorer.ts';
import type { WeightRef } from '../core/services/weights.ts';
import { showValue } from '../core/show-value.ts';
import { generationProblem, numbersProblem } from './generation-problem.ts';

export interface CheckedGeneratorOptions {
  /** For messages, such as `Generator "mine"`. */
  plugin: string;
  vocabSize: number;
}

/**
 * A generator that others wrote, held to its contract: what it throws names the plugin and the place in its code, and what it
 * answers is checked before anything is learned from it.
 */
export class CheckedGenerator implements Generator {
  /** Absent where the other does not count. */
  readonly totals?: () => Promise<GenerationTotals>;
  /** Absent where the other does not score. */
  readonly score?: Scorer['score'];
  readonly scoreTop?: NonNullable<Scorer['scoreTop']>;
  #version: number | undefined;

  private constructor(
    private readonly inner: Generator,
    private readonly options: CheckedGeneratorOptions,
  ) {
    if (inner.totals !== undefined)
      this.totals = () => this.#in('totals', async () => inner.totals!());
    if (inner.score !== undefined)
      this.score = (tokens, ...asked) =>
        this.#scores(
          'score',
          async () => inner.score!(tokens, ...asked),
          (rows) => tokens.map(({ length }, i) => [rows[i], length]),
        );
    if (inner.scoreTop !== undefined)
      this.scoreTop = (tokens, { topK, ...asked }, signal) =>
        this.#scores(
          'scoreTop',
          async () => inner.scoreTop!(tokens, { topK, ...asked }, signal),
          (rows) =>
            tokens.flatMap(({ length }, i) => [
              [rows[i]?.logProbs, length],
              [rows[i]?.top.logProbs, length * topK],
              [rows[i]?.top.ids, length * topK],
            ]),
        );
  }

  /** @throws AgentRlError `GENERATION_FAILED` when it cannot be opened, `PLUGIN_LOAD_FAILED` for a value that lacks a generator's methods */
  static async open(
    opening: () => Promise<Generator>,
    options: CheckedGeneratorOptions,
  ): Promise<CheckedGenerator> {
    const inner = await naming(options.plugin, undefined, opening);
    const methods: object = isRecord(inner) ? inner : {};
    const has = (name: string): boolean =>
      typeof (methods as Record<string, unknown>)[name] === 'function';
    const missing = ['describe', 'generate', 'release', 'close'].filter((name) => !has(name));
    if (missing.length === 0) return new CheckedGenerator(inner, options);
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `The open() of ${options.plugin} returned ${showValue(inner)}, which lacks the methods ${missing.join(', ')}. Have it return a Generator.`,
    );
  }

  /** @throws AgentRlError `PLUGIN_LOAD_FAILED` for what no generator may say of itself */
  async describe(): Promise<GeneratorInfo> {
    const info = await this.#in('describe', async () => this.inner.describe());
    const problem = infoProblem(info) ?? this.#useProblem(info);
    if (problem === undefined) return info;
    throw new AgentRlError('PLUGIN_LOAD_FAILED', `${this.options.plugin}, describe(): ${problem}.`);
  }

  /** @throws AgentRlError `GENERATION_FAILED` when it throws or returns an invalid generation */
  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const { plugin, vocabSize } = this.options;
    const { maxTokens, stopTokens } = request;
    const version = this.#version === undefined ? undefined : (request.version ?? this.#version);
    const answer = await this.#in('generate', async () => this.inner.generate(request, signal));
    const problem = generationProblem(answer, { maxTokens, stopTokens, version, vocabSize });
    if (problem === undefined) return answer;
    throw new AgentRlError('GENERATION_FAILED', `${plugin}, generate(): ${problem}.`);
  }

  release(episode: string): void {
    this.inner.release(episode);
  }

  /** @throws AgentRlError `GENERATION_FAILED` */
  async use(weights: WeightRef, signal?: AbortSignal, scorer?: Scorer): Promise<void> {
    await this.#in('use', async () => this.inner.use?.(weights, signal, scorer));
    this.#version = weights.version;
  }

  async close(): Promise<void> {
    await this.#in('close', async () => this.inner.close());
  }

  async #scores<Rows>(
    method: string,
    work: () => Promise<Rows>,
    listsIn: (rows: Rows) => Parameters<typeof numbersProblem>[0],
  ): Promise<Rows> {
    const rows = await this.#in(method, work);
    const problem = numbersProblem(listsIn(rows));
    if (problem === undefined) return rows;
    throw new AgentRlError('GENERATION_FAILED', `${this.options.plugin}, ${method}(): ${problem}.`);
  }

  #in<Value>(method: string, work: () => Promise<Value>): Promise<Value> {
    return naming(this.options.plugin, method, work);
  }

  #useProblem({ takes }: GeneratorInfo): string | undefined {
    return takes.length === 0 || this.inner.use !== undefined
      ? undefined
      : `takes is ${showValue(takes)}, but the generator has no method use to receive weights; add it, or return takes: []`;
  }
}

async function naming<Value>(
  plugin: string,
  method: string | undefined,
  work: () => Promise<Value>,
): Promise<Value> {
  enterPlugin(method === undefined ? plugin : `${plugin} in ${method}`);
  try {
    return await work();
  } catch (thrown) {
    if (AgentRlError.is(thrown)) throw thrown;
    const { message } = pluginFailure(plugin, thrown, method === undefined ? {} : { method });
    throw new AgentRlError('GENERATION_FAILED', message, { cause: thrown });
  }
}

const kinds: ReadonlySet<unknown> = new Set(['memory', 'folder', 'service']);

function infoProblem(info: unknown): string | undefined {
  if (!isRecord(info)) return `it is ${showValue(info)}; expected an object`;
  const { name, maxContextTokens, reproducible, takes } = info;
  if (typeof name !== 'string' || name.trim() === '')
    return `name is ${showValue(name)}; expected a text that names the model or server`;
  if (!Number.isInteger(maxContextTokens) || Number(maxContextTokens) < 1)
    return `maxContextTokens is ${showValue(maxContextTokens)}; expected a whole number of at least 1`;
  if (typeof reproducible !== 'boolean')
    return `reproducible is ${showValue(reproducible)}; expected true or false`;
  if (!Array.isArray(takes) || !takes.every((kind) => kinds.has(kind)))
    return `takes is ${showValue(takes)}; expected a list of memory and folder, empty if its weights are fixed`;
  return undefined;
}
