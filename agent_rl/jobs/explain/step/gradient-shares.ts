import { sum } from '../../../algorithms/statistics.ts';
import type { Column, LearnedRecord } from '../../../runs/episodes/learned-line.ts';
import type { TrainedEpisode } from '../../../runs/episodes/read-trained-episodes.ts';
import { sampledTokens } from '../../../runs/episodes/episode-id.ts';

/** A value of a column, which is one number where it is the same throughout. */
export const columnAt = (column: Column, index: number): number =>
  typeof column === 'number' ? column : (column[index] ?? Number.NaN);

/** What pulls at an episode's tokens: the sum of advantage x weight, and of its size. */
export interface Pull {
  signed: number;
  size: number;
}

/** 0 for an episode that was not sent. */
function pullOf({ episode, learned }: TrainedEpisode): Pull {
  const sent: LearnedRecord['sent'] = learned?.sent;
  if (sent === undefined) return { signed: 0, size: 0 };
  const pulls = Array.from(
    { length: sampledTokens(episode) },
    (_, token) => columnAt(sent.advantages, token) * columnAt(sent.weights, token),
  );
  return { signed: sum(pulls), size: sum(pulls.map(Math.abs)) };
}

/** The episodes of one task in an iteration, or one agent's part in them. */
export interface StepGroup {
  taskId: string;
  agent?: string;
  members: readonly TrainedEpisode[];
  kind: 'all right' | 'all wrong' | 'mixed' | 'not judged';
  /** Drawn again because its rewards were equal. */
  isResampled: boolean;
  /** Of the iteration's pull. */
  share: number;
}

/** The groups of agents that learn, those that pull most first. */
export function stepGroups(episodes: readonly TrainedEpisode[]): StepGroup[] {
  const groups = new Map<string, TrainedEpisode[]>();
  for (const one of episodes) {
    const { taskId, agent, learns, place } = one.episode;
    if (learns === false) continue;
    const key = JSON.stringify([place?.round, place?.slot ?? taskId, taskId, agent]);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [one]);
    else members.push(one);
  }
  const whole = sum(episodes.map((one) => pullOf(one).size));
  return [...groups.values()]
    .map((members) => groupOf(members, whole))
    .toSorted((a, b) => b.share - a.share);
}

const shareOf = (whole: number, part: number): number => (whole === 0 ? 0 : part / whole);

function groupOf(members: readonly TrainedEpisode[], whole: number): StepGroup {
  const { taskId, agent } = members[0]?.episode ?? { taskId: '' };
  const share = shareOf(whole, sum(members.map((one) => pullOf(one).size)));
  return {
    taskId,
    ...(agent !== undefined && { agent }),
    members,
    kind: kindOf(members),
    isResampled: members.every(({ learned }) => learned?.use === 'resampled'),
    share,
  };
}

function kindOf(members: readonly TrainedEpisode[]): StepGroup['kind'] {
  const judged = members.filter(({ episode }) => episode.reward !== null);
  const right = judged.filter(({ episode }) => episode.success).length;
  if (judged.length === 0) return 'not judged';
  if (right === 0) return 'all wrong';
  return right === judged.length ? 'all right' : 'mixed';
}

/** Share of the pull by how episodes ended, largest first. */
export function sharesByOutcome(
  episodes: readonly TrainedEpisode[],
): { outcome: string; episodes: number; up: number; down: number }[] {
  const whole = sum(episodes.map((one) => pullOf(one).size));
  const outcomes = [...new Set(episodes.map(({ episode }) => episode.outcome))];
  return outcomes
    .map((outcome) => {
      const own = episodes.filter(({ episode }) => episode.outcome === outcome);
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
