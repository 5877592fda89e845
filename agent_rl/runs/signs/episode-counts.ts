import { createHash } from 'node:crypto';

import { largest, smallest } from '../../core/long-lists.ts';
import type { AssistantMessage } from '../../core/message.ts';
import { sampledTokens } from '../../core/rollout.ts';
import type { LearnedRecord } from '../episodes/learned-record.ts';
import type { EpisodeRecord } from '../episodes/read-episodes.ts';
import { partText } from '../query/parts.ts';

/** What is counted of a part, recorded or just played. */
export interface CountedPart {
  episode: EpisodeRecord;
  learned?: Pick<LearnedRecord, 'use'> | undefined;
}

/** What an example is shown of. */
export type ExampleOf = keyof ReturnType<typeof kindsOf> | 'masked';

/** Least and most of a number over episodes. */
export interface Spread {
  count: number;
  least: number;
  most: number;
}

/** What the checks ask of training episodes that metrics do not say. Episodes of agents that do not learn are left out. */
export interface EpisodeTally {
  /** What is counted: agents' parts where several agents learn. */
  unit: 'episode' | 'part';
  scored: number;
  solved: number;
  /** Different things that the policy said and called in a whole episode. */
  different: number;
  /** Different tasks, and what they first ask. */
  tasks: number;
  prompts: number;
  /** What episodes are compared with their group by. */
  reward: Spread;
  /** Of each reward before any weight, by name. */
  scores: ReadonlyMap<string, Spread>;
  /** Scored episodes in which a turn looks like a tool call and none was read, not even as malformed. */
  unread: number;
  solvedWithoutCall: number;
  /** Paid above 0 for no words and no call. */
  paidForNothing: number;
  /** Scored episodes whose last words hold what a tool last said, and how many of these solved their task. */
  repeatedTool: number;
  repeatedToolSolved: number;
  /** Sampled tokens of masked episodes by outcome, where it is recorded what became of them. */
  masked: ReadonlyMap<string, number>;
  /** Whether it is. */
  learnedRecorded: boolean;
  /** Scored episodes and those solved by agent, those that do not learn among them. */
  agents: ReadonlyMap<string, AgentTally>;
  /** The newest of each kind, as `agent-rl runs show` calls it. */
  examples: ReadonlyMap<ExampleOf, string>;
}

export const unitOf = (tally: EpisodeTally | undefined): EpisodeTally['unit'] =>
  tally?.unit ?? 'episode';

export interface AgentTally {
  learns: boolean;
  scored: number;
  solved: number;
}

/** A turn of a model that calls tools, read by a format that is not its own. */
const callLike =
  /<tool_call|<function=|<\|python_tag\|>|```(?:python|py|json|tool)|"arguments"\s*:/;

/** Counts episodes one by one and holds none of them. */
export class EpisodeCounts {
  readonly #different = new Set<string>();
  readonly #tasks = new Set<string>();
  readonly #prompts = new Set<string>();
  readonly #scores = new Map<string, Spread>();
  readonly #masked = new Map<string, number>();
  readonly #agents = new Map<string, AgentTally>();
  readonly #examples = new Map<ExampleOf, string>();
  readonly #counts = {
    scored: 0,
    solved: 0,
    unread: 0,
    solvedWithoutCall: 0,
    paidForNothing: 0,
    repeatedTool: 0,
    repeatedToolSolved: 0,
  };
  #reward: Spread = noSpread;
  #learnedRecorded: boolean = false;

  note({ episode, learned }: CountedPart): void {
    this.#noteAgent(episode);
    if (!episode.learns) return;
    const kinds = kindsOf(episode);
    const id = partText(episode);
    for (const [kind, applies] of Object.entries(kinds))
      if (applies) this.#examples.set(kind as ExampleOf, id);
    this.#learnedRecorded ||= learned !== undefined;
    if (learned?.use === 'masked') {
      const before = this.#masked.get(episode.outcome) ?? 0;
      this.#masked.set(episode.outcome, before + sampledTokens(episode));
      this.#examples.set('masked', id);
    }
    if (episode.reward !== null) this.#noteScored(episode, kinds);
  }

  #noteScored(episode: EpisodeRecord, kinds: ReturnType<typeof kindsOf>): void {
    const counts = this.#counts;
    counts.scored += 1;
    counts.solved += Number(episode.success);
    counts.unread += Number(kinds.unread);
    counts.solvedWithoutCall += Number(kinds['solved without call']);
    counts.paidForNothing += Number(kinds['paid for nothing']);
    const repeats = repeatsTool(episode);
    counts.repeatedTool += Number(repeats);
    counts.repeatedToolSolved += Number(repeats && episode.success);
    addTo(this.#different, digest(saidText(saidIn(episode))));
    addTo(this.#tasks, episode.taskId);
    // A system message is often the same for all tasks.
    const asked = episode.messages.findIndex(({ role }) => role === 'user') + 1 || undefined;
    addTo(this.#prompts, digest(JSON.stringify(episode.messages.slice(0, asked))));
    this.#reward = widened(this.#reward, episode.groupReward?.reward ?? episode.reward ?? 0);
    for (const [name, score] of Object.entries(episode.scores))
      this.#scores.set(name, widened(this.#scores.get(name) ?? noSpread, score));
  }

  #noteAgent({ agent, learns, reward, success }: EpisodeRecord): void {
    if (reward === null) return;
    const { scored, solved } = this.#agents.get(agent) ?? { scored: 0, solved: 0 };
    this.#agents.set(agent, { learns, scored: scored + 1, solved: solved + Number(success) });
  }

  tally(): EpisodeTally {
    const learning = [...this.#agents.values()].filter(({ learns }) => learns).length;
    return {
      ...this.#counts,
      unit: learning > 1 ? 'part' : 'episode',
      different: this.#different.size,
      tasks: this.#tasks.size,
      prompts: this.#prompts.size,
      reward: this.#reward,
      scores: this.#scores,
      masked: this.#masked,
      learnedRecorded: this.#learnedRecorded,
      agents: this.#agents,
      examples: this.#examples,
    };
  }
}

/** Whether the last words of an episode hold what a tool last said; long results are hardly ever repeated whole. */
function repeatsTool({ messages }: EpisodeRecord): boolean {
  const told = messages.findLast(({ role }) => role === 'tool')?.content.trim() ?? '';
  const last = messages.at(-1);
  return told !== '' && last?.role === 'assistant' && last.content.includes(told);
}

/** A long run has millions of different episodes; this many say enough. */
const mostDistinct = 100_000;

function addTo(seen: Set<string>, text: string): void {
  if (seen.size < mostDistinct) seen.add(text);
}

const noSpread: Spread = { count: 0, least: Infinity, most: -Infinity };

const widened = ({ count, least, most }: Spread, value: number): Spread => ({
  count: count + 1,
  least: smallest([least, value]),
  most: largest([most, value]),
});

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');

const saidIn = ({ messages }: EpisodeRecord): readonly AssistantMessage[] =>
  messages.filter((message) => message.role === 'assistant');

/** What can be seen in an episode. */
function kindsOf(episode: EpisodeRecord) {
  const { toolCalls, malformedCalls, outcome, success, reward } = episode;
  const said = saidIn(episode);
  const called = toolCalls.some(({ status }) => status !== 'rejected');
  const cutOff = outcome === 'truncated-tokens' || outcome === 'truncated-turns';
  const isSilent = said.length > 0 && said.every(({ content }) => content.trim() === '');
  return {
    scored: reward !== null,
    failed: reward === null,
    malformed: malformedCalls > 0,
    unread: toolCalls.length === 0 && malformedCalls === 0 && !cutOff && said.some(looksLikeCall),
    rejected: toolCalls.some(({ status }) => status === 'rejected'),
    'without call': !called,
    'solved without call': success && !called,
    'paid for nothing': (reward ?? 0) > 0 && !called && isSilent,
    'cut off': cutOff,
    'wrong tool result repeated': reward !== null && !success && repeatsTool(episode),
    unsolved: reward !== null && !success,
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
