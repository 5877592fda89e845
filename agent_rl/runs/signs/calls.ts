import { largest } from '../../core/long-lists.ts';
import { countText, percentText, shortNumber } from '../../telemetry/index.ts';
import { type Answer, type Check, ok, unknown, verdictOf, judged } from './check.ts';
import { unitOf } from './episode-counts.ts';
import type { RunEvidence } from './run-evidence.ts';
import type { RunSettings } from '../query/run-settings.ts';
import type { Series } from '../query/series.ts';
import { trendOf } from './trend.ts';

/** Calls that cannot be read, or are not taken for calls. */
export const unreadCalls: Check = {
  name: 'unread-calls',
  asks: 'Are tool calls well-formed?',
  look: ({ settings, series, episodes, tools, prompt }) => {
    if (!tools) return ok('the run has no tools');
    const all = series.total('rollout/episodes');
    if (all === 0) return unknown('no episodes are recorded');
    const malformed = series.total('rollout/malformedCalls');
    const looksLike = episodes === undefined ? 0 : episodes.unread / Math.max(1, episodes.scored);
    // A shipped starter writes one in ten before it has learned; one in two is not its mistake.
    const verdict = verdictOf(Math.max(malformed / all, looksLike), {
      wrong: 0.5,
      suspicious: 0.25,
    });
    const says = `${countText(malformed, 'call')} in ${countText(all, 'episode')} were malformed (rollout/malformedCalls)`;
    if (verdict === 'ok') return loseForm(settings, series) ?? ok(says);
    const unseen = looksLike > malformed / all;
    return {
      verdict,
      says: unseen
        ? `in ${percentText(looksLike)} of the ${unitOf(episodes)}s the model writes text that looks like a call, but no call is parsed`
        : says,
      evidence: [
        `${percentText(series.mean('rollout/toolCallRate') ?? 0)} of episodes have a well-formed call (rollout/toolCallRate)`,
      ],
      tries: [
        `choose the call format that the model writes: ${settings.now('policy.toolCallFormat')}, ${settings.now('policy.type')}`,
        `raise ${settings.now('policy.maxTurnTokens')} if calls are cut off`,
        `show the format of a call ${prompt}, or train the model on calls with agent-rl sft first`,
      ],
      example: unseen ? 'unread' : 'malformed',
    };
  },
};

/** Calls that could be read at first. */
function loseForm(settings: RunSettings, series: Series): Answer | undefined {
  const each = (when: 'early' | 'late'): number =>
    ((series[when]('rollout/malformedCalls') ?? 0) + (series[when]('rollout/rejectedCalls') ?? 0)) /
    (series[when]('rollout/episodes') ?? 1);
  const [was, is] = [each('early'), each('late')];
  // Three in ten episodes: shipped jobs, with a penalty, stay under 0.14.
  if (!(is >= 0.3 && is >= 2 * was)) return undefined;
  return {
    verdict: 'suspicious',
    says: `calls get worse: malformed or rejected calls per episode went from ${shortNumber(was)} at the start to ${shortNumber(is)} at the end (rollout/malformedCalls, rollout/rejectedCalls)`,
    tries: [
      `raise ${settings.now('rollout.invalidCallPenalty')}, or lower ${settings.now('train.learningRate')}`,
    ],
    example: 'malformed',
  };
}

export const rejectedCalls: Check = {
  name: 'rejected-calls',
  asks: 'Do calls match the tools?',
  look: ({ settings, series, tools, prompt }) => {
    if (!tools) return ok('the run has no tools');
    const all = series.total('rollout/episodes');
    if (all === 0) return unknown('no episodes are recorded');
    const rejected = series.total('rollout/rejectedCalls');
    const says = `${countText(rejected, 'call')} in ${countText(all, 'episode')} named an unknown tool or had invalid arguments (rollout/rejectedCalls)`;
    return judged(rejected / all, { wrong: 0.5, suspicious: 0.25 }, says, {
      tries: [
        `add the tool: ${settings.now('tools')}`,
        `give the exact names of the tools ${prompt}, or train the model on calls with agent-rl sft first`,
      ],
      example: 'rejected',
    });
  },
};

export const noCalls: Check = {
  name: 'no-calls',
  asks: 'Are tools called?',
  look: (evidence) => {
    const { series, tools, prompt } = evidence;
    if (!tools) return ok('the run has no tools');
    const rate = series.mean('rollout/toolCallRate');
    if (rate === undefined) return unknown('no scored episodes are recorded');
    const says = `${percentText(rate)} of episodes call a tool (rollout/toolCallRate)`;
    const avoided = toolAvoided(evidence);
    if (avoided !== undefined) return avoided;
    // Tasks may do without: under a half is worth a look, under a tenth there is nothing to compare calls with.
    return judged(1 - rate, { wrong: 0.9, suspicious: 0.5 }, says, {
      says: `only ${says}`,
      tries: [
        `ask the model to call the tool ${prompt}`,
        'train the model on calls with agent-rl sft first',
      ],
      example: 'without call',
    });
  },
};

/** Calls that become rare though nothing is solved without them. */
function toolAvoided({ settings, series }: RunEvidence): Answer | undefined {
  const calls = trendOf(series, 'rollout/toolCallRate');
  const success = trendOf(series, 'rollout/successRate');
  // A policy that comes to solve its tasks may need fewer calls for it.
  if (calls?.fell !== true || calls.late > 0.6 * calls.early || success?.rose === true)
    return undefined;
  const worse = success?.fell === true || (success?.late ?? 0) < 0.1;
  // Where most tasks are solved anyway, the tool was not needed.
  if (!worse && (success?.late ?? 0) >= 0.5) return undefined;
  const costs = series
    .familyNames('reward/')
    .map((name) => ({
      name,
      was: series.early(`reward/${name}`) ?? 0,
      is: series.late(`reward/${name}`) ?? 0,
    }))
    .filter(({ was, is }) => was < 0 && is > was);
  return {
    verdict: worse ? 'wrong' : 'suspicious',
    says: `the policy learns to avoid its tools: the share of episodes with a call went from ${percentText(calls.early)} to ${percentText(calls.late)} (rollout/toolCallRate), and success from ${percentText(success?.early ?? 0)} to ${percentText(success?.late ?? 0)}`,
    evidence: costs.map(
      ({ name, was, is }) =>
        `${name} lowered the reward by ${shortNumber(-was)} per episode at the start and by ${shortNumber(Math.max(0, -is))} at the end (reward/${name}): the policy avoids this cost by not calling`,
    ),
    tries: [
      `charge nothing for calls in episodes with a wrong answer: ${settings.now('rollout.invalidCallPenalty')}, ${settings.now('rewards')}`,
      'start from a policy that succeeds more often: agent-rl sft, with train.until',
    ],
    example: 'without call',
  };
}

/** A tool whose answers do not solve the task. */
export const toolResults: Check = {
  name: 'tool-results',
  asks: 'Do tool results help?',
  look: ({ settings, tools, episodes }) => {
    if (!tools) return ok('the run has no tools');
    if (episodes === undefined) return unknown('no training episodes are recorded');
    const { agents, unit, scored, repeatedTool: repeated, repeatedToolSolved: right } = episodes;
    const says = `${repeated} of ${scored} ${unit}s end by repeating the last tool result, and ${right} of these answers are right`;
    // Few repeat it where results are long or need another step: then this says nothing.
    // Several agents may be right and lose.
    const told = repeated >= leastRepeated && repeated >= 0.3 * scored && agents.size < 2;
    if (!told) return ok(says);
    return judged(1 - right / repeated, { wrong: 0.98, suspicious: 0.9 }, says, {
      says: `${says}: the policy trusts the tool and is wrong`,
      tries: [
        `read an episode: do the arguments fit the task, and is the tool's result right?  ${settings.now('tools')}`,
        `check whether the reward accepts the form of the answer: ${settings.now('environment.type')}`,
      ],
      example: 'wrong tool result repeated',
    });
  },
};

const leastRepeated = 64;

export const truncated: Check = {
  name: 'truncated',
  asks: 'Do episodes finish?',
  look: ({ settings, series, episodes }) => {
    const outcomes = series.totals('outcome/');
    const all = [...outcomes.values()].reduce((total, count) => total + count, 0);
    if (all === 0) return unknown('no outcomes are recorded');
    const tokens = outcomes.get('truncated-tokens') ?? 0;
    const turns = outcomes.get('truncated-turns') ?? 0;
    const share = (tokens + turns) / all;
    const says = `${percentText(share)} of ${countText(all, unitOf(episodes))} are cut off: ${tokens} at the token limit and ${turns} at the turn limit (outcome/truncated-*)`;
    // The shipped jobs begin with a quarter.
    return judged(share, { wrong: 0.6, suspicious: 0.35 }, says, {
      evidence: [
        `sampled tokens per episode: ${(series.mean('rollout/lengthMean') ?? 0).toFixed()} on average, ${largest(series.values('rollout/lengthMax'), 0)} in the longest (rollout/lengthMean, lengthMax)`,
      ],
      tries: [
        tokens >= turns
          ? `raise ${settings.now('policy.maxTurnTokens')} or ${settings.now('rollout.maxEpisodeTokens')}`
          : `raise ${settings.now('rollout.maxTurns')}`,
      ],
      example: 'cut off',
    });
  },
};
