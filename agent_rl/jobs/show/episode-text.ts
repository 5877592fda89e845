import { sampledTokens } from '../../core/rollout.ts';
import type { EpisodeRecord } from '../../runs/episodes/read-episodes.ts';
import { partText, type RecordedPart } from '../../runs/query/parts.ts';
import { playedTurns, requestLine } from '../../runs/query/played-turns.ts';
import { countText, visibleControls } from '../../telemetry/index.ts';
import { entriesOf, entryText } from './transcript-entries.ts';

const rewardText = ({ reward }: EpisodeRecord): string =>
  reward === null ? 'no reward' : `reward ${reward.toFixed(2)}`;

/** An episode in a line. */
export const episodeLine = (episode: EpisodeRecord): string =>
  visibleControls(
    [
      partText(episode).padEnd(24),
      episode.taskId.padEnd(24),
      rewardText(episode).padEnd(12),
      episode.outcome.padEnd(20),
      countText(episode.turns, 'turn').padEnd(8),
      countText(sampledTokens(episode), 'token'),
    ].join('  '),
  );

const numbers = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${Number(value.toFixed(4))}`)
    .join(', ');

/** A whole episode: what was said, what tools did, how it was judged. */
export function episodeText(part: RecordedPart, { hidden }: { hidden: boolean }): string {
  const { episode } = part;
  const { seed, when, taskId, outcome, turns } = episode;
  const sampled = `${countText(sampledTokens(episode), 'token')} sampled`;
  const facts = [rewardText(episode), outcome, countText(turns, 'turn'), sampled, `seed ${seed}`];
  const secret = { label: 'hidden from the policy', text: JSON.stringify(episode.hidden, null, 1) };
  return visibleControls(
    [
      `Episode ${partText(episode)} of ${taskId}${when === 'train' ? '' : ` (held out, ${when} training)`}`,
      `  ${facts.join(', ')}`,
      ...judgement(episode),
      ...asked(part),
      ...trouble(episode),
      ...[...entriesOf({ ...episode, problem: null }), ...(hidden ? [secret] : [])].map(entryText),
    ].join('\n'),
  );
}

function judgement(episode: EpisodeRecord): string[] {
  const { judgedBy, components, scores, metrics } = episode;
  const parts = numbers(components);
  const rewards = (judgedBy?.rewards ?? []).map(
    ({ name, weight }) => `${name} ${scores[name] ?? 'does not apply'} x ${weight}`,
  );
  return [
    ...(parts === '' ? [] : [`  reward is the sum of ${parts}`]),
    ...(judgedBy?.environment === undefined
      ? []
      : [`  judged by ${[`environment ${judgedBy.environment}`, ...rewards].join(', ')}`]),
    ...inGroup(episode),
    ...(Object.keys(metrics).length === 0 ? [] : [`  counts: ${numbers(metrics)}`]),
  ];
}

/** What it was compared with its group by, where that is not its own reward. */
function inGroup({ groupReward }: EpisodeRecord): string[] {
  if (groupReward === null) return [];
  const { manager, reward, components = {} } = groupReward;
  const of = Object.keys(components).length === 0 ? '' : `, from ${numbers(components)}`;
  return [
    `  reward within its group: ${reward ?? 'no reward'}, computed by reward manager ${manager}${of}`,
  ];
}

/** What an agent with a loop of its own asked of the model, and its turns where they branch. */
function asked({ episode, learned }: RecordedPart): string[] {
  const line = requestLine(episode);
  const turns = episode.sequences.length > 1 ? playedTurns(episode, learned) : [];
  return [
    ...(line === undefined ? [] : [`  ${line}`]),
    ...turns.map(({ indent, about }) => `  ${'  '.repeat(indent)}${about}`),
  ];
}

function trouble({ problem, failedAttempts, cutTokens, toolCalls }: EpisodeRecord) {
  const ofTools = toolCalls.flatMap(({ problem: why }) => why ?? []);
  const cut = `  ${countText(cutTokens, 'token')} of the input cut to fit rollout.maxEpisodeTokens`;
  return [
    ...(problem === null ? [] : [`  problem: ${problem}`]),
    ...failedAttempts.map((attempt) => `  an earlier attempt failed: ${attempt.problem}`),
    ...ofTools.map((why) => `  a tool failed: ${why}`),
    ...(cutTokens === 0 ? [] : [cut]),
  ];
}
