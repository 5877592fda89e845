import { join } from 'node:path';

import { isRecord } from '../../core/is-record.ts';
import type { RunFolder } from '../run-folder.ts';
import type { LearnedRecord } from './learned-line.ts';
import { readLines } from './read-lines.ts';

/**
 * Reads what the updates of a run made of its episodes, in the order of `train.jsonl`.
 *
 * @param skipped told of each line that cannot be read, which is then left out; without it such a line is an error
 * @yields one part
 * @throws AgentRlError `DATASET_INVALID` for a line that cannot be read, with its place
 */
export async function* readLearned(
  { trajectories }: Pick<RunFolder, 'trajectories'>,
  skipped?: (text: string) => void,
): AsyncGenerator<LearnedRecord> {
  const file = join(trajectories, 'learned.jsonl');
  for await (const { record } of readLines(file, learnedOf, skipped)) yield record;
}

function learnedOf(line: string): LearnedRecord {
  const record: unknown = JSON.parse(line);
  if (isRecord(record) && typeof record['taskId'] === 'string' && typeof record['use'] === 'string')
    return record as unknown as LearnedRecord;
  throw new Error('it does not say what became of an episode');
}
