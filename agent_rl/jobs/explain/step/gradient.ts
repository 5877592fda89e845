import { groupBy } from '../../../core/long-lists.ts';
import { sum } from '../../../algorithms/statistics.ts';
import {
  partText,
  type RecordedPart,
  type SentToken,
  sentTokens,
} from '../../../runs/query/parts.ts';

/** What pulls at a part's tokens: the sum of advantage x weight, and of its size; 0 for one that was not sent. */
function pullOf(part: RecordedPart): { signed: number; size: number } {
  const pulls = sentTokens(part).map(({ advantage, weight }) => advantage * weight);
  return { signed: sum(pulls), size: sum(pulls.map(Math.abs)) };
}

const sizeOf = (parts: readonly RecordedPart[]): number =>
  sum(parts.map((one) => pullOf(one).size));

const shareOf = (whole: number, part: number): number => (whole === 0 ? 0 : part / whole);

/** The attempts at one task in an iteration, or one agent's part in them. */
export interface StepGroup {
  taskId: string;
  agent: string;
  members: readonly RecordedPart[];
  kind: 'all right' | 'all wrong' | 'mixed' | 'not judged';
  /** Drawn again, as `algorithm.selection` decided. */
  isResampled: boolean;
  /** Of the iteration's pull. */
  share: number;
}

/** The groups of agents that learn, those that pull most first. */
export function stepGroups(parts: readonly RecordedPart[]): StepGroup[] {
  const learning = parts.filter(({ episode }) => episode.learns);
  const groups = groupBy(learning, ({ episode: { round, slot, agent } }) =>
    [round, slot, agent].join('/'),
  );
  const whole = sizeOf(parts);
  return [...groups.values()]
    .map((members): StepGroup => {
      const { taskId = '', agent = '' } = members[0]?.episode ?? {};
      return {
        taskId,
        agent,
        members,
        kind: kindOf(members),
        isResampled: members.every(({ learned }) => learned?.use === 'resampled'),
        share: shareOf(whole, sizeOf(members)),
      };
    })
    .toSorted((a, b) => b.share - a.share);
}

function kindOf(members: readonly RecordedPart[]): StepGroup['kind'] {
  const judged = members.filter(({ episode }) => episode.reward !== null);
  const right = judged.filter(({ episode }) => episode.success).length;
  if (judged.length === 0) return 'not judged';
  if (right === 0) return 'all wrong';
  return right === judged.length ? 'all right' : 'mixed';
}

/** Share of the pull by how episodes ended, largest first. */
export function sharesByOutcome(
  parts: readonly RecordedPart[],
): { outcome: string; episodes: number; up: number; down: number }[] {
  const whole = sizeOf(parts);
  return [...groupBy(parts, ({ episode }) => episode.outcome)]
    .map(([outcome, own]) => {
      const pulls = own.map(pullOf);
      return {
        outcome,
        episodes: own.length,
        up: shareOf(whole, sum(pulls.map(({ size, signed }) => (size + signed) / 2))),
        down: shareOf(whole, sum(pulls.map(({ size, signed }) => (size - signed) / 2))),
      };
    })
    .toSorted((a, b) => b.up + b.down - a.up - a.down);
}

/** One sampled token of an episode and what the update does to it. */
export interface TokenPull {
  token: number;
  /** Advantage x weight x (1 - p): how its logit is pushed. A token that was certain cannot be made likelier. */
  pull: number;
  /** Its probability under the learner. */
  probability: number;
  episode: string;
  /** The tokens around it, itself among them at `at`. */
  context: readonly number[];
  at: number;
}

/** A token of the vocabulary, over all places where it was sampled. */
export interface TokenSum {
  token: number;
  count: number;
  pull: number;
}

export interface TokenPulls {
  /** Sum of the sizes of all pulls. */
  size: number;
  /** By token, the largest first: those made likelier, and those made less likely. */
  up: readonly TokenSum[];
  down: readonly TokenSum[];
  /** The single places that are pulled most. */
  strongest: readonly TokenPull[];
}

const [before, after] = [6, 3];

/** What an update with the plain policy gradient does to which tokens. Clipping and KL are left out. */
export function tokenPulls(parts: readonly RecordedPart[], most: number): TokenPulls {
  const sums = new Map<number, TokenSum>();
  let size = 0;
  let strongest: TokenPull[] = [];
  for (const part of parts) {
    const own = sentTokens(part).map((sent) => pullAt(sent, partText(part.episode)));
    for (const { token, pull } of own) {
      const known = sums.get(token) ?? { token, count: 0, pull: 0 };
      sums.set(token, { token, count: known.count + 1, pull: known.pull + pull });
      size += Math.abs(pull);
    }
    strongest = [...strongest, ...own]
      .toSorted((a, b) => Math.abs(b.pull) - Math.abs(a.pull))
      .slice(0, most);
  }
  const sorted = [...sums.values()].toSorted((a, b) => b.pull - a.pull);
  const down = sorted.filter(({ pull }) => pull < 0).toReversed();
  const up = sorted.filter(({ pull }) => pull > 0);
  return { size, up: up.slice(0, most), down: down.slice(0, most), strongest };
}

function pullAt({ tokens, place, advantage, weight, logProb }: SentToken, episode: string) {
  const probability = Math.exp(logProb);
  const start = Math.max(place - before, 0);
  return {
    token: tokens[place] ?? 0,
    pull: advantage * weight * (1 - probability),
    probability,
    episode,
    context: tokens.slice(start, place + after + 1),
    at: place - start,
  };
}
