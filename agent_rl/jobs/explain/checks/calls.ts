import { largest } from '../../../core/long-lists.ts';
import { countText, percentText } from '../../../telemetry/index.ts';
import { type Check, ok, unknown, verdictOf } from './check.ts';

/** Calls that cannot be read, or are not taken for calls. */
export const unreadCalls: Check = {
  name: 'unread-calls',
  asks: 'Can tool calls be read?',
  look: ({ settings, series, episodes, tools, prompt }) => {
    if (!tools) return ok('the run has no tools');
    const all = series.total('rollout/episodes');
    if (all === 0) return unknown('no episode is recorded');
    const malformed = series.total('rollout/malformedCalls');
    const looksLike = episodes === undefined ? 0 : episodes.unread / Math.max(1, episodes.scored);
    // A shipped starter writes one in ten before it has learned; one in two is not its mistake.
    const verdict = verdictOf(Math.max(malformed / all, looksLike), {
      wrong: 0.5,
      suspicious: 0.25,
    });
    const says = `${countText(malformed, 'call')} in ${countText(all, 'episode')} could not be read (rollout/malformedCalls)`;
    if (verdict === 'ok') return ok(says);
    const unseen = looksLike > malformed / all;
    return {
      verdict,
      says: unseen
        ? `in ${percentText(looksLike)} of the episodes the model writes what looks like a call, and none is read`
        : says,
      evidence: [
        `${percentText(series.mean('rollout/toolCallRate') ?? 0)} of episodes have a well-formed call (rollout/toolCallRate)`,
      ],
      tries: [
        `give the model the format that it writes: ${settings.now('policy.toolCallFormat')}, ${settings.now('policy.type')}`,
        `raise ${settings.now('policy.maxTurnTokens')} if calls are cut off`,
        `show the format ${prompt}, or warm the model up with agent-rl sft`,
      ],
      example: unseen ? 'unread' : 'malformed',
    };
  },
};

export const rejectedCalls: Check = {
  name: 'rejected-calls',
  asks: 'Do calls fit the tools?',
  look: ({ settings, series, tools, prompt }) => {
    if (!tools) return ok('the run has no tools');
    const all = series.total('rollout/episodes');
    if (all === 0) return unknown('no episode is recorded');
    const rejected = series.total('rollout/rejectedCalls');
    const says = `${countText(rejected, 'call')} in ${countText(all, 'episode')} named no tool of the run or had arguments that do not fit (rollout/rejectedCalls)`;
    const verdict = verdictOf(rejected / all, { wrong: 0.5, suspicious: 0.25 });
    if (verdict === 'ok') return ok(says);
    return {
      verdict,
      says,
      tries: [
        `list the tool: ${settings.now('tools')}`,
        `say what it is called ${prompt}, or warm the model up with agent-rl sft`,
      ],
      example: 'rejected',
    };
  },
};

export const noCalls: Check = {
  name: 'no-calls',
  asks: 'Are tools called?',
  look: ({ series, tools, prompt }) => {
    if (!tools) return ok('the run has no tools');
    const rate = series.mean('rollout/toolCallRate');
    if (rate === undefined) return unknown('no scored episode is recorded');
    const says = `${percentText(rate)} of episodes call a tool (rollout/toolCallRate)`;
    // Tasks may do without: under a half is worth a look, under a tenth there is nothing to compare calls with.
    const verdict = verdictOf(1 - rate, { wrong: 0.9, suspicious: 0.5 });
    if (verdict === 'ok') return ok(says);
    return {
      verdict,
      says: `only ${says}`,
      tries: [`ask for the tool ${prompt}`, 'warm the model up on calls with agent-rl sft'],
      example: 'without call',
    };
  },
};

export const truncated: Check = {
  name: 'truncated',
  asks: 'Do episodes come to their end?',
  look: ({ settings, series }) => {
    const outcomes = series.totals('outcome/');
    const all = [...outcomes.values()].reduce((total, count) => total + count, 0);
    if (all === 0) return unknown('no outcome is recorded');
    const tokens = outcomes.get('truncated-tokens') ?? 0;
    const turns = outcomes.get('truncated-turns') ?? 0;
    const share = (tokens + turns) / all;
    const says = `${percentText(share)} of episodes are cut off: ${tokens} by tokens, ${turns} by turns, of ${all} (outcome/truncated-*)`;
    // The shipped jobs begin with a quarter.
    const verdict = verdictOf(share, { wrong: 0.6, suspicious: 0.35 });
    if (verdict === 'ok') return ok(says);
    return {
      verdict,
      says,
      evidence: [
        `mean ${(series.mean('rollout/lengthMean') ?? 0).toFixed()}, most ${largest(series.values('rollout/lengthMax'), 0)} sampled tokens (rollout/lengthMean, lengthMax)`,
      ],
      tries: [
        tokens >= turns
          ? `raise ${settings.now('policy.maxTurnTokens')} or ${settings.now('rollout.maxEpisodeTokens')}`
          : `raise ${settings.now('rollout.maxTurns')}`,
      ],
      example: 'cut off',
    };
  },
};
