import path from 'node:path';

import { batchesOf } from '../../../agent_rl/runs/query/parts.ts';
import { runFolderAt } from '../../../agent_rl/runs/run-folder.ts';
import { inTemporaryFolder } from '../../temporary-folder.ts';
import { type PeerJob, runOfOurs } from './peer-job.ts';

/** The contexts in which a run of a job draws the first turns of its tasks, one for each task. */
export const promptsOfTasks = (job: PeerJob, iterations: number): Promise<number[][]> =>
  inTemporaryFolder('agent-rl-prompts', async (folder) => {
    runOfOurs(job, { folder, iterations, threads: 2, seed: 7 });
    const run = runFolderAt(path.join(folder, `of-${iterations}`));
    const prompts = new Map<string, number[]>();
    for await (const parts of batchesOf(run, { file: 'train' }))
      for (const { episode } of parts) {
        const { tokens, spans } = episode.sequences[0] ?? { tokens: [], spans: [] };
        const drawn = spans.find(({ source }) => source === 'sampled');
        if (drawn !== undefined) prompts.set(episode.taskId, tokens.slice(0, drawn.start));
      }
    return [...prompts.values()];
  });
