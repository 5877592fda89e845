import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import {
  type EpisodeFile,
  episodesOf,
  runWithEpisodes,
} from '../../runs/episodes/read-episodes.ts';
import type { RunFolder } from '../../runs/run-folder.ts';
import { writing } from '../../telemetry/atomic-write.ts';
import { countText } from '../../telemetry/figures.ts';
import type { JobResult } from '../job.ts';
import { refuseExisting, writingFresh } from '../token-files/fresh-lines.ts';
import { readToolFile } from '../token-files/tool-file.ts';
import { toolRow } from '../../../dataset/demonstrations/tool-definitions.ts';
import { conversationRow, conversationWriter } from './conversation-rows.ts';

export interface ExportRunOptions {
  /** Folder of a run, which may be under way. */
  run: string;
  /** Folder to write to. */
  output?: string | undefined;
  /** `episodes`: with tokens, calls and all else. `messages` and `parquet`: conversations, as other programs read them. */
  format?: 'episodes' | 'messages' | 'parquet';
  print: (text: string) => void;
}

/**
 * Writes the episodes of a run as lines of JSON: `train.jsonl` and `eval.jsonl` have one for each part of a rollout, and
 * `learned.jsonl` what the update made of the parts of `train.jsonl`. Conversations have `train` and `eval` alone.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` for a folder without a journal, `OUTPUT_UNWRITABLE` for files that exist
 */
export async function exportRun(options: ExportRunOptions): Promise<JobResult> {
  const { run, output, format = 'episodes', print } = options;
  const folder = runWithEpisodes(run);
  const isWhole = format === 'episodes';
  const target = resolve(output ?? join(folder.path, isWhole ? 'trajectories' : 'conversations'));
  const ending = format === 'parquet' ? 'parquet' : 'jsonl';
  const file = (name: string): string => join(target, `${name}.${ending}`);
  const names = isWhole ? ['train', 'eval', 'learned'] : ['train', 'eval'];
  for (const name of names) refuseExisting(file(name));
  const counts = { train: 0, eval: 0, learned: 0 };
  for (const name of ['train', 'eval'] as const)
    counts[name] = isWhole
      ? await writeEpisodes(folder, name, file(name))
      : await writeConversations(folder, name, {
          file: file(name),
          isParquet: format === 'parquet',
        });
  if (isWhole) counts.learned = await writeLearned(folder, file('learned'));
  const learned = isWhole ? `, ${counts.learned} with their update` : '';
  print(
    `${target}: ${countText(counts.train, 'training episode')}, ${counts.eval} held-out${learned}`,
  );
  return { folder: target, ...counts };
}

async function writeEpisodes(folder: RunFolder, name: EpisodeFile, file: string): Promise<number> {
  let count = 0;
  await writingFresh(file, async (write) => {
    for await (const parts of episodesOf(folder, { file: name, unfinished: true }))
      for (const { episode } of parts) {
        write(episode);
        count += 1;
      }
  });
  return count;
}

async function writeLearned(folder: RunFolder, file: string): Promise<number> {
  let count = 0;
  await writingFresh(file, async (write) => {
    for await (const parts of episodesOf(folder, { file: 'train' }))
      for (const { learned } of parts) {
        if (learned !== undefined) write(learned);
        count += Number(learned !== undefined);
      }
  });
  return count;
}

async function writeConversations(
  folder: RunFolder,
  name: EpisodeFile,
  { file, isParquet }: { file: string; isParquet: boolean },
): Promise<number> {
  const listed = existsSync(folder.tools)
    ? readToolFile(folder.tools, folder.tools).map(toolRow)
    : [];
  let count = 0;
  const conversations = async function* () {
    for await (const parts of episodesOf(folder, { file: name, unfinished: true })) {
      count += parts.length;
      yield parts.map(({ episode }) => conversationRow(episode));
    }
  };
  if (isParquet) {
    const partial = `${file}.${process.pid}.partial`;
    try {
      writing(file, () => mkdirSync(dirname(file), { recursive: true }));
      const writer = writing(file, () => conversationWriter(partial, JSON.stringify(listed)));
      for await (const rows of conversations()) await writing(file, () => writer.write(rows));
      await writing(file, () => writer.finish());
      refuseExisting(file);
      writing(file, () => renameSync(partial, file));
    } finally {
      rmSync(partial, { force: true });
    }
  } else
    await writingFresh(file, async (write) => {
      for await (const rows of conversations())
        for (const { messages, ...facts } of rows) write({ messages, tools: listed, ...facts });
    });
  return count;
}
