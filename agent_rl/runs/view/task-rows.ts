import type { TaskAttempts, TaskRow } from './api.ts';
import type { IndexedEpisode } from './index/episode-row.ts';

interface Sums extends Omit<TaskAttempts, 'rewardMean'> {
  rewards: number;
  judged: number;
}

/** Episodes by task, in the order in which tasks first occur, and in it by iteration. */
export function taskRows(episodes: readonly IndexedEpisode[]): TaskRow[] {
  const tasks = new Map<string, IndexedEpisode[]>();
  for (const episode of episodes) {
    const known = tasks.get(episode.row.taskId);
    if (known === undefined) tasks.set(episode.row.taskId, [episode]);
    else known.push(episode);
  }
  return [...tasks].map(([taskId, own]) => {
    const rows = own.map(({ row }) => row);
    return {
      taskId,
      slice: rows.find(({ slice }) => slice !== null)?.slice ?? null,
      attempts: rows.length,
      successes: rows.filter(({ success }) => success).length,
      lastIteration: rows.reduce((last, { iteration }) => Math.max(last, iteration), 0),
      question: rows[0]?.question ?? '',
      byIteration: byIteration(own),
    };
  });
}

function byIteration(episodes: readonly IndexedEpisode[]): TaskAttempts[] {
  const parts = new Map<string, Sums>();
  for (const { row } of episodes) {
    const set = row.when ?? 'train';
    const { iteration } = row;
    const key = `${set} ${iteration}`;
    const part = parts.get(key) ?? {
      iteration,
      set,
      attempts: 0,
      successes: 0,
      rewards: 0,
      judged: 0,
    };
    part.attempts += 1;
    part.successes += Number(row.success);
    part.judged += Number(row.reward !== null);
    part.rewards += row.reward ?? 0;
    parts.set(key, part);
  }
  return [...parts.values()].map(({ rewards, judged, iteration, set, attempts, successes }) => {
    const rewardMean = judged === 0 ? null : rewards / judged;
    return { iteration, set, attempts, successes, rewardMean };
  });
}
