import type { Message } from '../../core/message.ts';
import { episodeId, sampledTokens } from '../../runs/episodes/episode-id.ts';
import type { EpisodeRecord } from '../../runs/episodes/read-episodes.ts';
import { countText, visibleControls } from '../../telemetry/index.ts';

const rewardText = ({ reward }: EpisodeRecord): string =>
  reward === null ? 'no reward' : `reward ${reward.toFixed(2)}`;

/** An episode in a line. */
export const episodeLine = (episode: EpisodeRecord): string =>
  visibleControls(
    [
      episodeId(episode).padEnd(32),
      rewardText(episode).padEnd(12),
      episode.outcome.padEnd(20),
      countText(episode.turns, 'turn').padEnd(8),
      countText(sampledTokens(episode), 'token'),
    ].join('  '),
  );

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');

const numbers = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${Number(value.toFixed(4))}`)
    .join(', ');

/** A whole episode: what was said, what tools did, how it was judged. */
export function episodeText(episode: EpisodeRecord, { hidden }: { hidden: boolean }): string {
  const { messages, seed, when } = episode;
  const head = [
    `Episode ${episodeId(episode)}${when === undefined ? '' : ` (held out, ${when} training)`}`,
    `  ${[rewardText(episode), episode.outcome, countText(episode.turns, 'turn'), `${countText(sampledTokens(episode), 'token')} sampled`].join(', ')}${seed === undefined || seed === null ? '' : `, seed ${seed}`}`,
    ...judgement(episode),
    ...trouble(episode),
  ];
  const body = messages.map((message) => messageText(message, episode));
  const secret =
    hidden && episode.hidden !== undefined
      ? ['  [hidden from the policy]', indented(JSON.stringify(episode.hidden, null, 1))]
      : [];
  return visibleControls([...head, ...body, ...secret].join('\n'));
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
  if (groupReward === undefined || groupReward === null) return [];
  const { manager, reward, components = {} } = groupReward;
  const of = Object.keys(components).length === 0 ? '' : `, from ${numbers(components)}`;
  return [`  in its group: ${reward ?? 'no reward'} by ${manager}${of}`];
}

function trouble({ problem, failedAttempts = [], cutTokens = 0, toolCalls }: EpisodeRecord) {
  const ofTools = toolCalls.flatMap(({ problem: why }) => why ?? []);
  const cut = `  left out for want of room: ${countText(cutTokens, 'token')} of what it was shown`;
  return [
    ...(problem === null ? [] : [`  problem: ${problem}`]),
    ...failedAttempts.map((attempt) => `  an attempt before this one failed: ${attempt.problem}`),
    ...ofTools.map((why) => `  a tool failed: ${why}`),
    ...(cutTokens === 0 ? [] : [cut]),
  ];
}

function messageText(message: Message, { toolCalls }: EpisodeRecord): string {
  if (message.role !== 'tool') {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    const malformed = message.role === 'assistant' ? (message.malformedCalls ?? []) : [];
    const thought = message.role === 'assistant' ? (message.reasoning ?? '') : '';
    return [
      `  [${message.role}]`,
      ...(thought === '' ? [] : [indented(`thinks: ${thought}`)]),
      ...(message.content === '' ? [] : [indented(message.content)]),
      ...calls.map((call) => callText(call.name, call.arguments)),
      ...malformed.map(({ text, problem }) => indented(`unreadable call (${problem}): ${text}`)),
    ].join('\n');
  }
  const ran = toolCalls.find(({ id }) => id === message.callId);
  const how = ran === undefined ? '' : `: ${ran.status}, ${ran.wallMs.toFixed(0)} ms`;
  return [`  [${message.name}${how}]`, indented(message.content)].join('\n');
}

/** A call with its arguments as they are read best: text as it is, the rest as JSON. */
const callText = (name: string, given: Readonly<Record<string, unknown>>): string =>
  [
    `    calls ${name}`,
    ...Object.entries(given).map(([key, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return text.includes('\n')
        ? `      ${key}:\n${indented(indented(text))}`
        : `      ${key}: ${text}`;
    }),
  ].join('\n');
