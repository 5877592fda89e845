import { largest, smallest } from '../../core/long-lists.ts';
import { sum } from '../../algorithms/statistics.ts';
import { countText, percentText, shortNumber } from '../../telemetry/index.ts';
import type { RunEvidence } from './run-evidence.ts';
import { type Answer, type Check, ok, unknown } from './check.ts';
import { trendOf } from './trend.ts';

export const learningRate: Check = {
  name: 'learning-rate',
  asks: 'Is the step size reasonable?',
  look: (evidence) => {
    const { settings, series } = evidence;
    const rates = series.values('train/learningRate');
    if (rates.length === 0) return unknown('no learning rate is recorded');
    const most = largest(rates);
    const iterations = rates.length;
    const tries = [
      `${settings.now('train.learningRate')}, ${settings.now('train.warmupSteps')}, ${settings.now('train.schedule')}, ${settings.now('train.finalRatio')}`,
    ];
    if (most === 0)
      return { verdict: 'wrong', says: 'the learning rate is 0 (train/learningRate)', tries };
    const moved = stepSize(evidence);
    if (moved !== undefined) return moved;
    const warmup = settings.number('train.warmupSteps', 0);
    const steps = series.last('train/optimizerSteps') ?? iterations;
    if (steps === 0) return unknown('no update was made; see the other findings');
    if (steps < warmup && steps >= iterations / 2)
      return {
        // While it trains this is as it should be.
        verdict: evidence.hasSummary ? 'suspicious' : 'unknown',
        says: `the run is still warming up: ${steps} of ${warmup} steps`,
        tries,
      };
    const off = rates.filter((rate) => rate === 0).length;
    // The last step of a schedule may end at 0; more of them are steps without effect.
    if (off > 1 && off > 0.1 * iterations)
      return {
        verdict: 'suspicious',
        says: `the learning rate is 0 in ${off} of ${iterations} iterations: the schedule has ended`,
        tries,
      };
    // Below what is usual even for models of billions of weights, 1e-6.
    if (most < 1e-7)
      return {
        verdict: 'suspicious',
        says: `the learning rate never exceeds ${shortNumber(most)}, less than a tenth of what is usual even for the largest models`,
        tries,
      };
    return ok(`the highest learning rate is ${shortNumber(most)} (train/learningRate)`);
  },
};

/**
 * How far a step moves a weight, which AdamW does by the learning rate whatever the gradient, beside how large weights
 * are. The shipped jobs move them by 0.1 to 0.5 % a step.
 */
function stepSize({ settings, series, trainedParameters }: RunEvidence): Answer | undefined {
  // Steps that are too large make the weights large.
  const norms = series.values('train/parameterNorm');
  const norm = norms.length === 0 ? 0 : smallest(norms);
  const rates = series.values('train/learningRate');
  if (norm === 0 || trainedParameters === undefined) return undefined;
  const size = norm / Math.sqrt(trainedParameters);
  const step = largest(rates) / size;
  const success = trendOf(series, 'rollout/successRate');
  const [early = 0, late = 1] = series.ends('rollout/successRate');
  const rate = `train.learningRate is ${shortNumber(settings.number('train.learningRate', largest(rates)))}`;
  const evidence = [
    `the root mean square of weights is ${shortNumber(size)} (train/parameterNorm)`,
  ];
  const harms = success !== undefined && (success.fell || success.late === 0);
  // A fresh adapter has small weights, and learns with steps that look large.
  const isAdapter =
    settings.at('model.lora') !== undefined || settings.list('model.adapters').length > 0;
  const isLarge = !isAdapter && step >= 0.05 && success?.rose !== true;
  if (isLarge || (harms && step >= 0.01))
    return {
      verdict: 'wrong',
      says: `steps are too large: ${rate}, each step moves a weight by ${percentText(step)} of its size, and success went from ${percentText(early)} to ${percentText(late)}`,
      evidence,
      tries: [`lower ${settings.now('train.learningRate')} to a tenth`],
    };
  const iterations = settings.number('train.iterations', rates.length);
  const steps =
    iterations *
    settings.number('algorithm.epochs', 1) *
    settings.number('algorithm.updatesPerBatch', 1);
  const way = (steps * (sum(rates) / rates.length)) / size;
  if (success !== undefined && way < 1e-3 && !success.rose && success.late < 0.8)
    return {
      verdict: 'wrong',
      says: `steps are too small: ${rate}, so all ${countText(steps, 'step')} of the run together move a weight by at most ${shortNumber(100 * way)} % of its size`,
      evidence,
      tries: [`raise ${settings.now('train.learningRate')} to ten times its value`],
    };
  return undefined;
}

export const gradient: Check = {
  name: 'gradient',
  effect: true,
  asks: 'Is the gradient finite and of usual size?',
  look: (evidence) => {
    const { series, settings } = evidence;
    const norms = series.values('train/gradNorm');
    if (norms.length === 0) return unknown('no update was made; see the other findings');
    const wild = [...norms, ...series.values('train/loss')].some((one) => !Number.isFinite(one));
    const tries = [`lower ${settings.now('train.learningRate')}`];
    if (wild)
      return { verdict: 'wrong', says: 'the loss or the gradient is NaN or infinite', tries };
    const median = series.median('train/gradNorm') ?? 0;
    const says = `the median norm of the gradient is ${shortNumber(median)} (train/gradNorm)`;
    return tooLarge(evidence, median) ?? tooSmall(evidence, median) ?? ok(says);
  },
};

function tooLarge({ settings, series }: RunEvidence, median: number): Answer | undefined {
  const bound = settings.number('train.maxGradNorm', Infinity);
  // A gradient cut to a tenth in most steps: its size carries nothing any more.
  if (!(bound > 0 && median > 10 * bound)) return undefined;
  const clipped = series.values('train/gradNorm').filter((norm) => norm > bound).length;
  return {
    verdict: 'suspicious',
    says: `most gradients are clipped to less than a tenth of their size: their median norm is ${shortNumber(median)} (train/gradNorm)`,
    evidence: [`clipped in ${clipped} of ${series.values('train/gradNorm').length} updates`],
    tries: [`raise ${settings.now('train.maxGradNorm')}, or check the scale of rewards`],
  };
}

function tooSmall(
  { settings, trainedParameters }: RunEvidence,
  median: number,
): Answer | undefined {
  if (trainedParameters === undefined) return undefined;
  const each = median / Math.sqrt(trainedParameters);
  const eps = settings.number('train.eps', 1e-8);
  // AdamW divides by the size of the gradient and eps: near eps the step shrinks with the gradient.
  if (each >= 10 * eps) return undefined;
  return {
    verdict: 'suspicious',
    says: `the gradient is ${shortNumber(each)} per weight, as small as AdamW's epsilon`,
    evidence: [`norm ${shortNumber(median)} over ${trainedParameters} weights`],
    tries: [`${settings.now('train.eps')}, ${settings.now('algorithm.aggregation')}`],
  };
}
