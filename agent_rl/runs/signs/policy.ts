import { percentText, shortNumber } from '../../telemetry/index.ts';
import { type Check, ok, unknown } from './check.ts';
import type { Series } from '../query/series.ts';
import { learningRate } from './learning-rate.ts';
import { leastIterations, trendOf } from './trend.ts';

export const kl: Check = {
  name: 'kl',
  asks: 'Is the KL term too strong?',
  look: ({ settings, series }) => {
    const kind = settings.at('algorithm.kl.kind') ?? 'none';
    if (kind === 'none') return ok('the run has no KL term (algorithm.kl.kind none)');
    const weight = settings.number('algorithm.kl.weight', 0);
    const isInReward = settings.at('algorithm.kl.in') === 'reward';
    const lost = series.late('rollout/klPenaltyMean');
    const spread = series.late('rollout/rewardStd');
    const nats = series.late('sent/kl');
    const advantage = series.late('sent/advantageStd');
    // A token whose log-probability is d from the reference's is pulled back by weight x d, and d ** 2 / 2 is the KL.
    const pull = nats === undefined ? undefined : weight * Math.sqrt(2 * Math.max(0, nats));
    const [held, against] = isInReward ? [lost, spread] : [pull, advantage];
    if (held === undefined || against === undefined) return unknown('no KL term was measured');
    const ratio = against === 0 ? (held > 0 ? Infinity : 0) : held / against;
    const says = isInReward
      ? `the KL penalty is ${shortNumber(held)}, while the standard deviation of rewards is ${shortNumber(against)} (rollout/klPenaltyMean, rewardStd)`
      : `the strength of the KL term is ${shortNumber(held)}, while the standard deviation of advantages is ${shortNumber(against)} (weight x sqrt(2 x sent/kl), sent/advantageStd)`;
    // As strong as the rewards it stands still; a third already sets how far it goes.
    if (ratio < 1 / 3) return ok(says);
    return {
      verdict: ratio >= 1 ? 'wrong' : 'suspicious',
      says,
      tries: [`lower ${settings.now('algorithm.kl.weight')}`],
    };
  },
};

/** Groups that teach nothing though not all of their episodes are right, by all groups. */
function idleGroups(series: Series, when: 'early' | 'late'): number {
  const count = series[when]('group/count') ?? 1;
  const equal = series[when]('group/zeroVariance') ?? 0;
  return Math.max(0, equal - (series[when]('group/allRight') ?? 0)) / count;
}

export const entropy: Check = {
  name: 'entropy',
  effect: true,
  asks: 'Does the policy still explore?',
  look: (evidence) => {
    const { settings, series, hasSummary } = evidence;
    const [early, late] = series.ends('rollout/entropyEstimate');
    if (early === undefined || late === undefined) return unknown('entropy is not recorded');
    const success = series.late('rollout/successRate') ?? 0;
    const rise = success - (series.early('rollout/successRate') ?? 0);
    const says = `${shortNumber(early)} nats per token at the start, ${shortNumber(late)} at the end (rollout/entropyEstimate)`;
    const trusted = series.iterations.length >= leastIterations;
    // Solved tasks need no trying: the shipped search job ends at a quarter of its entropy.
    const idle = [idleGroups(series, 'early'), idleGroups(series, 'late')] as const;
    // A fifth of the entropy and a third more of the groups: neither happens in a run of the shipped jobs.
    const agrees = late < 0.2 * early && idle[1] >= idle[0] + 1 / 3;
    if (trusted && (agrees || (late < 0.1 * early && success < 0.5)))
      return {
        verdict: 'suspicious',
        says: `entropy collapsed without success: ${says}; groups with equal rewards and unsolved tasks: ${percentText(idle[0])} at the start, ${percentText(idle[1])} at the end (group/zeroVariance)`,
        tries: [
          `lower ${settings.now('train.learningRate')}; set ${settings.now('algorithm.entropyBonus')} or ${settings.now('algorithm.kl.kind')}`,
        ],
        example: 'unsolved',
      };
    if (trusted && late > 3 * early && rise < 0.05)
      return {
        verdict: 'suspicious',
        says: `entropy explodes without more success: ${says}`,
        tries: [
          `lower ${settings.now('train.learningRate')} or ${settings.now('algorithm.entropyBonus')}`,
        ],
        example: 'unsolved',
      };
    const fell = trendOf(series, 'rollout/successRate')?.fell === true;
    // Only a run that has ended is judged by what it has not learned.
    if (trusted && hasSummary && late > 0.9 * early && rise < 0.05 && success < 0.8 && !fell) {
      const grows = late > 1.1 * early;
      // More of what is wrong with the steps, or of what raises entropy, would not help.
      const moreHelps = !grows && learningRate.look(evidence).verdict !== 'wrong';
      return {
        verdict: 'suspicious',
        says: `entropy is ${grows ? 'rising' : 'not falling'}: ${says}, and success went from ${percentText(success - rise)} to ${percentText(success)}`,
        tries: [
          moreHelps
            ? `see the other findings; raise ${settings.now('train.learningRate')} or ${settings.now('train.iterations')}`
            : 'see the other findings first',
        ],
      };
    }
    return ok(says);
  },
};

export const repetition: Check = {
  name: 'repetition',
  effect: true,
  asks: 'Do turns repeat themselves?',
  look: ({ settings, series }) => {
    const late = series.late('rollout/repetition');
    if (late === undefined) return unknown('rollout/repetition is not recorded');
    const says = `${percentText(late)} of 4-grams are repeats within their turn (rollout/repetition)`;
    // Shipped jobs are at 1 to 5 %.
    const early = series.early('rollout/repetition') ?? 0;
    if (!(late >= 0.2 && late >= 2 * early)) return ok(says);
    return {
      verdict: 'suspicious',
      says,
      evidence: [`${percentText(early)} at the start`],
      tries: [
        `lower ${settings.now('policy.maxTurnTokens')}, set ${settings.now('algorithm.overlong.share')}, or lower ${settings.now('train.learningRate')}`,
      ],
      example: 'cut off',
    };
  },
};

/** Episodes that grow or shrink without more success. */
export const lengths: Check = {
  name: 'lengths',
  effect: true,
  asks: 'Does episode length stay stable?',
  look: ({ settings, series }) => {
    const [was, is] = series.ends('rollout/lengthMean');
    if (was === undefined || is === undefined) return unknown('rollout/lengthMean is not recorded');
    const says = `${shortNumber(was)} sampled tokens at the start, ${shortNumber(is)} at the end (rollout/lengthMean)`;
    const trusted = series.iterations.length >= leastIterations;
    const rise =
      (series.late('rollout/successRate') ?? 0) - (series.early('rollout/successRate') ?? 0);
    // A task that comes to be solved may need more words, or fewer: only without that is it a bad sign.
    if (!trusted || rise > 0.05 || (is < 2 * was && is > 0.4 * was)) return ok(says);
    return {
      verdict: 'suspicious',
      says: `episodes get ${is > was ? 'longer' : 'shorter'} without more success: ${says}`,
      tries: [
        is > was
          ? `penalise length with ${settings.now('algorithm.overlong.share')} or the reward length, or change ${settings.now('algorithm.aggregation')}`
          : 'read an episode: a reward may favour ending early',
      ],
      example: 'scored',
    };
  },
};

const shown = (share: number | undefined): string =>
  share === undefined ? 'not recorded' : percentText(share);

export const ratios: Check = {
  name: 'ratios',
  asks: 'Do updates stay close to the sampling policy?',
  look: ({ settings, series }) => {
    const clipped = series.late('sent/clipFraction');
    const tail = series.late('sent/ratioTail');
    const guarded = series.late('sent/guarded') ?? 0;
    if (clipped === undefined && tail === undefined) return unknown('no update was made');
    const says = `share of tokens whose probability doubled or halved: ${shown(tail)} (sent/ratioTail); share of tokens that were clipped: ${shown(clipped)} (sent/clipFraction)`;
    // PPO's papers clip a few tokens in a hundred; a fifth is lost to the update.
    if ((tail ?? 0) < 0.02 && (clipped ?? 0) < 0.2 && guarded === 0) return ok(says);
    return {
      verdict: 'suspicious',
      says,
      evidence: [
        `${percentText(guarded)} of tokens are not trained on, because their probability changed too much (sent/guarded)`,
      ],
      tries: [
        `lower ${settings.now('train.learningRate')}, ${settings.now('algorithm.epochs')} or ${settings.now('algorithm.updatesPerBatch')}; ${settings.now('algorithm.correction.type')}`,
      ],
    };
  },
};

export const heldOut: Check = {
  name: 'held-out',
  effect: true,
  asks: 'Does held-out success rise too?',
  look: ({ series, heldOut: evaluated, hasSummary, settings }) => {
    const [early, late] = series.ends('rollout/successRate');
    if (evaluated === undefined)
      return unknown(
        hasSummary
          ? `no evaluation before and after training: ${settings.now('eval.before')}, ${settings.now('eval.after')}`
          : 'the run has no summary.json: it is still running, or it failed',
      );
    const { before, after, interval } = evaluated;
    const says = `held-out success was ${percentText(before)} before training, ${percentText(after)} after`;
    if (interval === null ? after < before - 0.05 : interval[1] < 0)
      return {
        verdict: 'wrong',
        says: `held-out success fell from ${percentText(before)} before training to ${percentText(after)} after`,
        tries: ['fix the findings above, and start again from the model before training'],
      };
    const calm = (text: string) =>
      after === 0 ? unknown(`no held-out task is solved: ${text}`) : ok(text);
    if (early === undefined || late === undefined) return calm(says);
    const trained = `success in training was ${percentText(early)} at the start, ${percentText(late)} at the end (rollout/successRate)`;
    // Ten points in training are more than the tasks of a quarter differ by.
    if (!(late - early >= 0.1 && (interval === null ? after <= before : interval[0] <= 0)))
      return calm(`${says}; ${trained}`);
    return {
      verdict: 'suspicious',
      says: `${says}, ${trained}: the gain does not generalise`,
      evidence:
        interval === null
          ? []
          : [
              `change ${percentText(after - before)}, 95 % interval from ${percentText(interval[0])} to ${percentText(interval[1])}`,
            ],
      tries: [
        'use more different training tasks, or held-out tasks of the same kind; check whether the reward can be earned without solving tasks',
        `${settings.now('eval.temperature')} against ${settings.now('policy.sampling.temperature')}, ${settings.now('eval.samples')}, ${settings.now('eval.strategy')}`,
      ],
    };
  },
};
