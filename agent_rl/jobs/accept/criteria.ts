import { largest } from '../../core/long-lists.ts';
import type { IterationMetrics } from '../../runs/query/metrics.ts';
import { mebibytes } from '../../telemetry/mebibytes.ts';
import type { MetricName } from '../../telemetry/metric-names.ts';
import type { JobResult } from '../job.ts';
import type { ReadBack } from './read-back.ts';

/** What was found of a model. */
export interface Found {
  /** Of the training. */
  summary: JobResult;
  lines: readonly IterationMetrics[];
  texts: ReadBack;
  exportedBytes: number;
}

export interface Criterion {
  name: string;
  /** In words. */
  bound: string;
  found: string;
  met: boolean;
}

/** In nats, on the processor as everywhere in the project; sums on other devices have no fixed order. */
const parityBounds = {
  cpu: { max: 1e-3, mean: 1e-4 },
  other: { max: 1e-2, mean: 1e-3 },
} as const;

/** The values of a metric, one for each iteration that has it. */
export const valuesOf = (lines: readonly IterationMetrics[], name: MetricName): number[] =>
  lines.flatMap(({ metrics }) => metrics[name] ?? []);

/** What a model must do to be accepted. That it learned is not among them: twenty iterations promise no model that. */
export function criteria(
  { summary, lines, texts, exportedBytes }: Found,
  { iterations, device }: { iterations: number; device: string },
): Criterion[] {
  const bound = device === 'cpu' ? parityBounds.cpu : parityBounds.other;
  const gaps = valuesOf(lines, 'parity/maxAbsLogProbGap');
  const max = gaps.length === 0 ? Number.NaN : largest(gaps);
  const mean = Number(summary['meanAbsLogProbGap'] ?? Number.NaN);
  const norms = valuesOf(lines, 'train/gradNorm');
  const moved = norms.filter((norm) => norm > 0).length;
  const { sessions } = summary;
  const whole = lines.map(({ iteration }) => iteration);
  const failed = valuesOf(lines, 'rollout/failed').reduce((total, one) => total + one, 0);
  const kept = texts.texts - texts.changed.length;
  return [
    {
      name: 'the tokenizer decodes texts unchanged',
      bound: 'every one',
      found: `${kept} of ${texts.texts}${texts.changed.map((text) => `; decoded as ${JSON.stringify(text)}`).join('')}`,
      met: texts.changed.length === 0,
    },
    {
      name: 'episodes end without a system failure',
      bound: 'none fails',
      found: `${failed} failed`,
      met: failed === 0,
    },
    {
      name: 'generator and learner agree on every token',
      bound: `at most ${bound.max} nats apart, ${bound.mean} on average`,
      found: `at most ${max.toExponential(1)}, ${mean.toExponential(1)} on average`,
      met: max <= bound.max && mean <= bound.mean,
    },
    {
      name: 'gradients are finite and not all zero',
      bound: 'every norm is finite, and at least half of the norms are above 0',
      found: `${norms.length} norms, ${moved} above 0, the largest ${largest(norms).toPrecision(3)}`,
      met: norms.every(Number.isFinite) && moved >= iterations / 2,
    },
    {
      name: 'a stopped run resumes from its checkpoint',
      bound: `two sessions that together complete each iteration from 1 to ${iterations} exactly once`,
      found: `${String(sessions)} sessions, iterations ${whole[0] ?? 'none'} to ${whole.at(-1) ?? 'none'}`,
      met:
        sessions === 2 &&
        whole.length === iterations &&
        whole.every((iteration, index) => iteration === index + 1),
    },
    {
      name: 'the trained model is exported',
      bound: 'an ONNX folder is written',
      found: mebibytes(exportedBytes),
      met: exportedBytes > 0,
    },
  ];
}
