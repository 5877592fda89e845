import { countText, percentText } from '../../telemetry/index.ts';
import { type Finding, isTrouble } from './run-checks.ts';
import type { RunEvidence } from './run-evidence.ts';
import type { RunVerdict } from '../summary.ts';
import { leastIterations, trendOf } from './trend.ts';

export type { RunVerdict };

/** Whether a run got better or worse, and why. @param findings of `runChecks`, the first cause first */
export function runVerdict(evidence: RunEvidence, findings: readonly Finding[]): RunVerdict {
  if ((evidence.settings.at('train.control') ?? 'none') !== 'none')
    return { is: 'control', says: 'This run is a control and should not learn (train.control).' };
  const { is, says } = changeOf(evidence);
  if (is === 'better') return { is, says };
  const { length } = evidence.series.iterations;
  if (is !== 'worse' && length < leastIterations)
    return {
      is,
      says: `${says} ${countText(length, 'iteration')} ${length === 1 ? 'is' : 'are'} too few to tell whether the run learns.`,
    };
  const cause = findings.find(isTrouble);
  return {
    is,
    says: cause === undefined ? says : `${says} Likely cause: ${cause.says} [${cause.check}].`,
  };
}

function changeOf({ heldOut, series }: RunEvidence): RunVerdict {
  if (heldOut === undefined) {
    const trend = trendOf(series, 'rollout/successRate');
    if (trend === undefined)
      return { is: 'unknown', says: 'Success was not measured both before and after training.' };
    const { early, late, fell, rose } = trend;
    const from = `from ${percentText(early)} in the first quarter of the iterations to ${percentText(late)} in the last`;
    if (fell) return { is: 'worse', says: `Success in training fell ${from}.` };
    return rose
      ? { is: 'better', says: `Success in training rose ${from}.` }
      : { is: 'unclear', says: `Success in training went ${from}, which may be chance.` };
  }
  const { before, after, interval } = heldOut;
  const from = `from ${percentText(before)} to ${percentText(after)}`;
  if (interval !== null && interval[1] < 0)
    return { is: 'worse', says: `The run got worse: held-out success fell ${from}.` };
  if (interval !== null && interval[0] > 0)
    return { is: 'better', says: `Held-out success rose ${from}.` };
  const says =
    before === after
      ? `Held-out success did not change: ${percentText(after)}.`
      : `Held-out success went ${from}, which may be chance.`;
  return { is: 'unclear', says };
}
