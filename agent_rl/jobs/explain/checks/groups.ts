import { countText, percentText } from '../../../telemetry/index.ts';
import { type Check, ok, unknown, verdictOf } from './check.ts';

export const groups: Check = {
  name: 'no-variance',
  asks: 'Do the episodes of a group differ in reward?',
  look: ({ settings, series }) => {
    const count = series.total('group/count');
    if (count === 0) return unknown('no group is recorded');
    const equal = series.total('group/zeroVariance');
    const [right, wrong] = [series.total('group/allRight'), series.total('group/allWrong')];
    const seen = `${percentText(equal / count)} of ${countText(count, 'group')} have equal rewards (group/zeroVariance), all right: ${right}, all wrong: ${wrong}`;
    // Solved tasks end in groups that are all right: 0.8 is where the shipped jobs end.
    if ((series.late('rollout/successRate') ?? 0) >= 0.8 && right >= wrong && equal < count)
      return ok(`${seen}; the tasks come to be solved`);
    // Half is usual; with nine in ten an update has a tenth of its episodes.
    const verdict = verdictOf(equal / count, { wrong: 0.9, suspicious: 0.7 });
    if (verdict === 'ok') return ok(seen);
    return {
      verdict,
      says: seen,
      tries: [
        advice({ equal, right, wrong }),
        `raise ${settings.now('rollout.groupSize')}; set ${settings.now('algorithm.selection.type')} to dynamic; raise ${settings.now('policy.sampling.temperature')} if episodes are the same`,
      ],
      example: right >= wrong ? 'scored' : 'unsolved',
    };
  },
};

function advice({ equal, right, wrong }: Record<'equal' | 'right' | 'wrong', number>): string {
  if (right + wrong < 0.5 * equal)
    return 'look at what is rewarded: episodes that solve their task are paid as those that do not';
  return right >= wrong ? 'harder tasks: these are solved' : 'easier tasks, or agent-rl sft first';
}
