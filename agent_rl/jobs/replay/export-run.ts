import { join, resolve } from 'node:path';

import { episodesOf, runWithEpisodes } from '../../runs/episodes/read-episodes.ts';
import { countText } from '../../telemetry/figures.ts';
import type { JobResult } from '../job.ts';
import { refuseExisting, writingFresh } from '../token-files/fresh-lines.ts';

export interface ExportRunOptions {
  /** Folder of a run, which may be under way. */
  run: string;
  /** Folder to write to. */
  output?: string | undefined;
  print: (text: string) => void;
}

/**
 * Writes the episodes of a run as lines of JSON: `train.jsonl` and `eval.jsonl` have one for each part of a rollout, and
 * `learned.jsonl` what the update made of the parts of `train.jsonl`.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` for a folder without a journal, `OUTPUT_UNWRITABLE` for files that exist
 */
export async function exportRun({ run, output, print }: ExportRunOptions): Promise<JobResult> {
  const folder = runWithEpisodes(run);
  const target = resolve(output ?? join(folder.path, 'trajectories'));
  const file = (name: string): string => join(target, `${name}.jsonl`);
  for (const name of ['train', 'eval', 'learned']) refuseExisting(file(name));
  const counts = { train: 0, eval: 0, learned: 0 };
  for (const name of ['train', 'eval'] as const)
    await writingFresh(file(name), async (write) => {
      for await (const parts of episodesOf(folder, { file: name, unfinished: true }))
        for (const { episode } of parts) {
          write(episode);
          counts[name] += 1;
        }
    });
  await writingFresh(file('learned'), async (write) => {
    for await (const parts of episodesOf(folder, { file: 'train' }))
      for (const { learned } of parts) {
        if (learned !== undefined) write(learned);
        counts.learned += Number(learned !== undefined);
      }
  });
  print(
    `${target}: ${countText(counts.train, 'training episode')}, ${counts.eval} held-out, ${counts.learned} with their update`,
  );
  return { folder: target, ...counts };
}
