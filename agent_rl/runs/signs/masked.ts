import { sum } from '../../algorithms/statistics.ts';
import { countText, percentText } from '../../telemetry/index.ts';
import { unitOf } from './episode-counts.ts';
import type { RunEvidence } from './run-evidence.ts';
import type { RunSettings } from '../query/run-settings.ts';
import { type Check, judged, ok, unknown, verdictOf } from './check.ts';

/** Half of what was sampled teaches nothing; a quarter is more than cut-off episodes of a healthy run take. */
const bounds = { wrong: 0.5, suspicious: 0.25 };

/** Whether tokens that could teach are kept from it by a setting. */
export const masked: Check = {
  name: 'masked',
  asks: 'Are sampled tokens trained on?',
  look: (evidence) => {
    const tokens = evidence.series.totals('ledger/');
    const of = (use: string): number => tokens.get(use) ?? 0;
    const sampled = sum([...tokens.values()]);
    if (sampled === 0) return unknown('no ledger is recorded');
    const share = of('masked') / sampled;
    const verdict = verdictOf(share, bounds);
    const trained = `${percentText((of('trained') + of('distilled')) / sampled)} of ${countText(sampled, 'sampled token')} moved the weights (ledger/trained${of('distilled') > 0 ? ', ledger/distilled' : ''})`;
    const hint = evidence.settings.at('algorithm.distill.hint');
    if (hint !== undefined && of('trained') + of('distilled') === 0)
      return {
        verdict: 'wrong',
        says: `nothing was trained: no episode had what ${evidence.settings.now('algorithm.distill.hint')} asks for`,
        tries: ['use a hint of fields that the tasks have'],
      };
    if (verdict === 'ok')
      return ok(`${trained}, ${percentText(share)} were masked (ledger/masked)`);
    const reasons = maskReasons(evidence);
    return {
      verdict,
      says: `${percentText(share)} of the sampled tokens are masked and teach nothing (ledger/masked)`,
      evidence: [trained, ...reasons.map(({ seen }) => seen)],
      tries: reasons.flatMap(({ tries }) => tries),
      example: 'masked',
    };
  },
};

interface Reason {
  seen: string;
  tries: string[];
}

function maskReasons({ settings, series, episodes }: RunEvidence): Reason[] {
  const unit = unitOf(episodes);
  const recorded = episodes?.learnedRecorded === true;
  const byOutcome = [...(recorded ? episodes.masked : series.totals('outcome/'))]
    .filter(
      ([outcome, count]) => count > 0 && settings.at(`rollout.outcomes.${outcome}`) === 'mask',
    )
    .toSorted(([, a], [, b]) => b - a);
  const leftOut = series.total('group/leftOut');
  return [
    ...byOutcome.map(([outcome, count]) => ({
      seen: `${recorded ? `${countText(count, 'token')} of ${unit}s` : countText(count, unit)} that ended as ${outcome}: ${settings.now(`rollout.outcomes.${outcome}`)}`,
      tries: [
        `set rollout.outcomes.${outcome} to train or penalise, or ${rarer(outcome, settings)}`,
      ],
    })),
    ...(leftOut === 0
      ? []
      : [
          {
            seen: `the reward manager gave no reward to ${countText(leftOut, 'episode')} (group/leftOut)`,
            tries: [`see why: ${settings.now('rewardManager.type')}`],
          },
        ]),
  ];
}

/** What makes an outcome rarer. */
function rarer(outcome: string, settings: RunSettings): string {
  if (outcome === 'truncated-tokens')
    return `raise ${settings.now('policy.maxTurnTokens')} and ${settings.now('rollout.maxEpisodeTokens')}`;
  if (outcome === 'truncated-turns') return `raise ${settings.now('rollout.maxTurns')}`;
  if (outcome === 'invalid-calls') return `raise ${settings.now('rollout.invalidCallLimit')}`;
  return `raise ${settings.now('sandbox.wallS')}`;
}

/** Whether other settings leave most of it out. */
export const leftOut: Check = {
  name: 'left-out',
  asks: 'Are groups and agents trained on?',
  look: ({ settings, series }) => {
    const tokens = series.totals('ledger/');
    const sampled = sum([...tokens.values()]);
    if (sampled === 0) return unknown('no ledger is recorded');
    // Several agents of which one learns, and dynamic sampling, leave out more than half by design.
    const causes = [
      { use: 'untrained', tries: `agents[].train: ${settings.now('agents')}` },
      { use: 'not-selected', tries: settings.now('algorithm.selection') },
      {
        use: 'resampled',
        tries: `groups with equal rewards are resampled: use easier or harder tasks, or raise ${settings.now('rollout.groupSize')}`,
      },
    ].map((cause) => Object.assign({ share: (tokens.get(cause.use) ?? 0) / sampled }, cause));
    const most = causes.reduce((a, b) => (b.share > a.share ? b : a));
    const says = `${percentText(most.share)} of the sampled tokens are ${most.use} (ledger/${most.use})`;
    return judged(most.share, { wrong: 0.98, suspicious: 0.8 }, says, { tries: [most.tries] });
  },
};
