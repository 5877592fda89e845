import { hasNoSpread } from '../../algorithms/statistics.ts';
import { countText, percentText, shortNumber } from '../../telemetry/index.ts';
import type { EpisodeTally, Spread } from './episode-counts.ts';
import { type Answer, type Check, ok, unknown, verdictOf } from './check.ts';
import { leastIterations, trendOf } from './trend.ts';

/** From this many episodes on, agreement is no accident: with success of one in ten, 0.9 ** 8 is 43 %, and with a half 0.4 %. */
const leastEpisodes = 8;

const isConstant = ({ count, least, most }: Spread): boolean =>
  count >= leastEpisodes && hasNoSpread([least, most]);

/** Fewer may be lucky guesses. */
const leastSolved = 16;

/** At a success of one in twenty, 64 episodes in a row fail by chance in 4 % of cases: 0.95 ** 64. */
const leastUnsolved = 64;

const notRecorded = unknown('no training episodes are recorded');

/** A reward that does not depend on what the episode did. */
export const constantReward: Check = {
  name: 'constant-reward',
  asks: 'Does the reward distinguish episodes?',
  look: ({ settings, episodes }) => {
    if (episodes === undefined) return notRecorded;
    const { reward, unit, scored, solved, different, tasks } = episodes;
    if (scored < leastEpisodes)
      return unknown(`only ${countText(scored, unit)} have a known reward`);
    const unsolved = solved === 0 && reward.most <= 0;
    if (!isConstant(reward)) return ok(spreadText(reward));
    if (unsolved) return ok('no episode is solved; see below');
    return {
      verdict: 'wrong',
      says: `all ${scored} ${unit}s have the reward ${shortNumber(reward.most)}, so there is nothing to compare within groups`,
      evidence: [
        `the policy gave ${countText(different, 'different answer')} to ${countText(tasks, 'task')} and solved ${solved} of ${scored} ${unit}s`,
        ...solvedAll(episodes),
      ],
      tries: [
        `check whether the reward depends on the answer: ${settings.now('environment.type')}, ${settings.now('rewards')}, ${settings.now('algorithm.environmentWeight')}`,
        'if all answers are right, use harder tasks',
      ],
      example: 'scored',
    };
  },
};

const spreadText = ({ least, most }: Spread): string =>
  `rewards range from ${shortNumber(least)} to ${shortNumber(most)}`;

const solvedAll = ({ solvedWithoutCall, scored, unit }: EpisodeTally): string[] =>
  solvedWithoutCall === 0
    ? []
    : [`${solvedWithoutCall} of ${scored} ${unit}s were solved without a tool call`];

export const neverSolved: Check = {
  name: 'never-solved',
  effect: true,
  asks: 'Is a task ever solved?',
  look: ({ settings, episodes, series }) => {
    const late = series.late('rollout/successRate');
    const all = series.total('rollout/scored');
    const solved = series.values('rollout/successRate').some((rate) => rate > 0);
    if (late === undefined) return unknown('no scored episodes are recorded');
    if (!solved && all < leastUnsolved)
      return unknown(
        `no task solved in ${all} episodes so far, too few to tell (rollout/successRate)`,
      );
    if (solved && late === 0)
      return {
        verdict: 'suspicious',
        says: 'tasks were solved earlier, but not in the last quarter of the iterations (rollout/successRate)',
        tries: ['fix the findings above, and start again from the model before training'],
      };
    if (solved)
      return ok(
        `${percentText(late)} of episodes in the last quarter solved their task (rollout/successRate)`,
      );
    const paid = episodes !== undefined && !isConstant(episodes.reward);
    return {
      // Other rewards may lead to it.
      verdict: paid ? 'suspicious' : 'wrong',
      says: `0 of ${all} episodes solved their task (rollout/successRate)`,
      evidence: episodes === undefined ? [] : [spreadText(episodes.reward)],
      tries: [
        'read an episode: is the task too hard, or is a right answer not recognised?',
        `use easier tasks, train with agent-rl sft first, or raise ${settings.now('rollout.groupSize')}`,
      ],
      example: 'unsolved',
    };
  },
};

/** Success that falls while the run trains, or does not move. */
export const success: Check = {
  name: 'success',
  effect: true,
  asks: 'Does success rise in training?',
  look: ({ settings, series }) => {
    const trend = trendOf(series, 'rollout/successRate');
    if (trend === undefined)
      return unknown(`fewer than ${leastIterations} iterations are recorded`);
    const { early, late, fell, rose } = trend;
    const says = `success went from ${percentText(early)} in the first quarter to ${percentText(late)} in the last (rollout/successRate)`;
    if (!fell) return ok(rose || late >= 0.8 ? says : `${says}, which may be chance`);
    const [was = 0, is = 0] = series.ends('rollout/rewardMean');
    const paid = is >= was;
    return {
      verdict: 'wrong',
      says: `success fell: from ${percentText(early)} in the first quarter to ${percentText(late)} in the last (rollout/successRate)${paid ? ', but the reward did not fall, so it rewards something other than success' : ''}`,
      evidence: [
        `reward ${shortNumber(was)} at the start, ${shortNumber(is)} at the end (rollout/rewardMean)`,
      ],
      tries: paid
        ? [
            `check what earns the reward: ${settings.now('rewards')}, ${settings.now('environment.type')}`,
          ]
        : [`lower ${settings.now('train.learningRate')}; set ${settings.now('algorithm.kl.kind')}`],
      example: 'unsolved',
    };
  },
};

/** One of several rewards that is never earned, such as for the form of the answer, or always. */
export const constantPart: Check = {
  name: 'constant-part',
  asks: 'Does each part of the reward vary?',
  look: ({ settings, episodes }): Answer => {
    if (episodes === undefined) return notRecorded;
    // What the environment pays alone has checks of its own.
    const parts = [...episodes.scores].filter(([name]) => !/(^|\/)environment$/.test(name));
    if (parts.length === 0) return ok('the environment gives the only reward');
    if (isConstant(episodes.reward)) return ok('the whole reward is constant; see that finding');
    const constant = parts.filter(([, spread]) => isConstant(spread));
    if (constant.length === 0) return ok(`all ${parts.length} rewards vary (score/*)`);
    const never = constant.filter(([, { most }]) => most <= 0);
    const shown = constant.map(
      ([name, { count, most }]) =>
        `${name}: ${shortNumber(most)} in all ${count} ${episodes.unit}s (score/${name})`,
    );
    return {
      verdict: 'suspicious',
      says:
        never.length > 0
          ? `${never.map(([name]) => name).join(', ')} is never earned`
          : `${constant.map(([name]) => name).join(', ')} is always the same and teaches nothing`,
      evidence: shown,
      tries: [
        `check whether its settings fit what the model writes: ${settings.now('rewards')}`,
        'show the expected format in the prompt, or train on it with agent-rl sft first',
      ],
      example: 'scored',
    };
  },
};

/** Success for nothing: what is learned is then to do nothing. */
export const paidForNothing: Check = {
  name: 'paid-for-nothing',
  asks: 'Is success earned?',
  look: ({ settings, episodes, series, tools: hasTools }) => {
    if (episodes === undefined) return notRecorded;
    const { unit, solved, solvedWithoutCall, scored, paidForNothing: silent } = episodes;
    // Of several environments one may need no tool.
    const tools = hasTools && settings.list('environment').length < 2;
    const [was = 0, is = 0] = series.ends('rollout/successWithoutCalls');
    const withoutCall = tools && solved >= leastSolved ? solvedWithoutCall / solved : 0;
    const says = `${silent} of ${scored} ${unit}s are rewarded although the model wrote no text and called no tool${tools ? `; ${percentText(withoutCall)} of ${solved} solved episodes called no tool` : ''}`;
    // Words guessed right now and then are no news; one success in four is a way of its own.
    const rising = tools && is >= was + 0.1;
    const isPaid = silent >= leastSolved && silent > 0.02 * scored;
    const verdict = isPaid
      ? 'wrong'
      : verdictOf(rising ? Math.max(withoutCall, 0.25) : withoutCall, {
          wrong: 0.9,
          suspicious: 0.25,
        });
    if (verdict === 'ok') return ok(says);
    return {
      verdict,
      says: rising
        ? `${says}; solved without a call: ${percentText(was)} of all episodes at the start, ${percentText(is)} at the end (rollout/successWithoutCalls)`
        : says,
      tries: [
        `check whether the reward requires the tool's result: ${settings.now('environment.type')}, ${settings.now('rewards')}`,
        'run agent-rl plugins attack to find other cheats',
      ],
      example: isPaid ? 'paid for nothing' : 'solved without call',
    };
  },
};
