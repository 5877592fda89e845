import { createHash } from 'node:crypto';

import { largest, smallest } from '../../../core/long-lists.ts';
import type { AssistantMessage } from '../../../core/message.ts';
import type { EpisodeRecord } from '../../../runs/episodes/read-episodes.ts';
import type { TrainedEpisode } from '../../../runs/episodes/read-trained-episodes.ts';
import { episodeId, sampledTokens } from '../../show/episode-text.ts';

/** What an example is shown of. */
export type ExampleOf =
  | 'scored'
  | 'failed'
  | 'malformed'
  | 'unread'
  | 'rejected'
  | 'without call'
  | 'solved without call'
  | 'paid for nothing'
  | 'cut off'
  | 'masked'
  | 'unsolved';

/** Least and most of a number over episodes. */
export interface Spread {
  count: number;
  least: number;
  most: number;
}

/** What the checks ask of training episodes that metrics do not say. Those of agents that do not learn are left out. */
export interface EpisodeTally {
  scored: number;
  solved: number;
  /** Different things that the policy said and called in a whole episode, and tasks. */
  different: number;
  tasks: number;
  /** What episodes are compared with their group by. */
  reward: Spread;
  /** Of each reward before any weight, by name. */
  scores: ReadonlyMap<string, Spread>;
  /** Scored episodes in which a turn looks like a tool call and none was read, not even as malformed. */
  unread: number;
  solvedWithoutCall: number;
  /** Paid above 0 for no words and no call. */
  paidForNothing: number;
  /** Sampled tokens of masked episodes by outcome, where it is recorded what became of them. */
  masked: ReadonlyMap<string, number>;
  /** Whether it is. */
  learnedRecorded: boolean;
  /** The newest of each kind, as `agent-rl show` calls it. */
  examples: ReadonlyMap<ExampleOf, string>;
}

/** A turn of a model that calls tools, read by a format that is not its own. */
const callLike =
  /<tool_call|<function=|<\|python_tag\|>|```(?:python|py|json|tool)|"arguments"\s*:/;

/** Reads all episodes and holds none of them. */
export async function tallyEpisodes(
  episodes: AsyncIterable<TrainedEpisode>,
): Promise<EpisodeTally> {
  const different = new Set<string>();
  const tasks = new Set<string>();
  const scores = new Map<string, Spread>();
  const masked = new Map<string, number>();
  const examples = new Map<ExampleOf, string>();
  const counts = { scored: 0, solved: 0, unread: 0, solvedWithoutCall: 0, paidForNothing: 0 };
  let reward = noSpread;
  let learnedRecorded = false;
  for await (const { episode, learned } of episodes) {
    if (episode.learns === false) continue;
    const id = episodeId(episode);
    const facts = factsOf(episode);
    for (const kind of facts.kinds) examples.set(kind, id);
    learnedRecorded ||= learned !== undefined;
    if (learned?.use === 'masked') {
      masked.set(episode.outcome, (masked.get(episode.outcome) ?? 0) + sampledTokens(episode));
      examples.set('masked', id);
    }
    if (episode.reward === null) continue;
    counts.scored += 1;
    counts.solved += Number(episode.success);
    counts.unread += Number(facts.kinds.includes('unread'));
    counts.solvedWithoutCall += Number(facts.kinds.includes('solved without call'));
    counts.paidForNothing += Number(facts.kinds.includes('paid for nothing'));
    different.add(digest(facts.said));
    tasks.add(episode.taskId);
    reward = widened(reward, episode.groupReward?.reward ?? episode.reward);
    for (const [name, score] of Object.entries(episode.scores ?? {}))
      scores.set(name, widened(scores.get(name) ?? noSpread, score));
  }
  const sizes = { different: different.size, tasks: tasks.size };
  return { ...counts, ...sizes, reward, scores, masked, learnedRecorded, examples };
}

const noSpread: Spread = { count: 0, least: Infinity, most: -Infinity };

const widened = ({ count, least, most }: Spread, value: number): Spread => ({
  count: count + 1,
  least: smallest([least, value]),
  most: largest([most, value]),
});

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');

interface Facts {
  kinds: readonly ExampleOf[];
  /** What the policy said and called. */
  said: string;
}

function factsOf(episode: EpisodeRecord): Facts {
  const { messages = [], toolCalls, malformedCalls, outcome, success, reward } = episode;
  const said = messages.filter((message) => message.role === 'assistant');
  const called = toolCalls.some(({ status }) => status !== 'rejected');
  const unread = toolCalls.length === 0 && malformedCalls === 0 && said.some(looksLikeCall);
  const kinds: [ExampleOf, boolean][] = [
    ['scored', reward !== null],
    ['failed', reward === null],
    ['malformed', malformedCalls > 0],
    ['unread', unread],
    ['rejected', toolCalls.some(({ status }) => status === 'rejected')],
    ['without call', !called],
    ['solved without call', success && !called],
    [
      'paid for nothing',
      (reward ?? 0) > 0 && !called && said.every(({ content }) => content.trim() === ''),
    ],
    ['cut off', outcome === 'truncated-tokens' || outcome === 'truncated-turns'],
    ['unsolved', reward !== null && !success],
  ];
  return {
    kinds: kinds.flatMap(([kind, applies]) => (applies ? [kind] : [])),
    said: saidText(said),
  };
}

const saidText = (messages: readonly AssistantMessage[]): string =>
  JSON.stringify(
    messages.map(({ content, reasoning, toolCalls = [], malformedCalls = [] }) => [
      content,
      reasoning,
      toolCalls.map((call) => [call.name, call.arguments]),
      malformedCalls.map(({ text }) => text),
    ]),
  );

const looksLikeCall = ({ content }: { content: string }): boolean => callLike.test(content);
