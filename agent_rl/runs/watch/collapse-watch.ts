import { mean } from '../../algorithms/statistics.ts';
import type { Metrics, MetricName } from '../../telemetry/index.ts';
import type { IterationMetrics } from '../read-metrics.ts';
import type { CollapseSign, Watched } from './collapse-sign.ts';
import { collapseSigns } from './collapse-signs.ts';

/**
 * Iterations that are looked at together. One iteration differs from the next by its tasks: on the shipped jobs lengths by a
 * quarter, groups without variance by half. Their means over five differ by a tenth.
 */
const watchWindow = 5;

export interface CollapseWarning {
  about: string;
  text: string;
}

/**
 * Looks for signs that the policy degenerates, iteration by iteration: how the newest iterations differ from the first
 * ones of this session. Each sign is told once, with its evidence.
 */
export class CollapseWatch {
  readonly #first: Metrics[] = [];
  readonly #newest: Metrics[] = [];
  readonly #told = new Set<string>();

  constructor(
    private readonly tools: boolean,
    private readonly signs: readonly CollapseSign[] = collapseSigns,
  ) {}

  /** What is new after an iteration; nothing until there are two whole windows. */
  note({ metrics }: Pick<IterationMetrics, 'metrics'>): CollapseWarning[] {
    if (this.#first.length < watchWindow) {
      this.#first.push(metrics);
      return [];
    }
    this.#newest.push(metrics);
    if (this.#newest.length > watchWindow) this.#newest.shift();
    if (this.#newest.length < watchWindow) return [];
    const watched: Watched = {
      first: (name) => meanOf(this.#first, name),
      now: (name) => meanOf(this.#newest, name),
      tools: this.tools,
    };
    return this.signs.flatMap((sign) => {
      const text = this.#told.has(sign.about) ? undefined : sign.look(watched);
      if (text === undefined) return [];
      this.#told.add(sign.about);
      return [{ about: sign.about, text }];
    });
  }
}

function meanOf(iterations: readonly Metrics[], name: MetricName): number | undefined {
  const values = iterations.flatMap((metrics) => metrics[name] ?? []);
  return values.length === iterations.length ? mean(values) : undefined;
}
