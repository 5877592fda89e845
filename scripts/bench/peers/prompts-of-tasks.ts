import { readFileSync } from 'node:fs';
import path from 'node:path';

import { inTemporaryFolder } from '../../temporary-folder.ts';
import { type PeerJob, runOfOurs } from './peer-job.ts';

interface Episode {
  taskId: string;
  sequences: { tokens: number[]; spans: { start: number; source: string }[] }[];
}

/** The contexts in which a run of a job draws the first turns of its tasks, one for each task. */
export const promptsOfTasks = (job: PeerJob, iterations: number): Promise<number[][]> =>
  inTemporaryFolder('agent-rl-prompts', async (folder) => {
    runOfOurs(job, { folder, iterations, threads: 2, seed: 7 });
    const file = path.join(folder, `of-${iterations}`, 'trajectories', 'train.jsonl');
    const prompts = new Map<string, number[]>();
    for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
      const { taskId, sequences } = JSON.parse(line) as Episode;
      const { tokens, spans } = sequences[0] ?? { tokens: [], spans: [] };
      const drawn = spans.find(({ source }) => source === 'sampled');
      if (drawn !== undefined) prompts.set(taskId, tokens.slice(0, drawn.start));
    }
    return [...prompts.values()];
  });
