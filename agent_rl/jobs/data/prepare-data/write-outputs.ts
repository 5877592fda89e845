import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { AgentRlError } from '../../../core/errors.ts';
import type { SearchDocument } from '../../../core/services/search.ts';
import { writeFileAtomic } from '../../../telemetry/atomic-write.ts';
import { jsonLines } from '../../../../dataset/tables/json-lines.ts';
import type { PreparedQuestion } from '../../../../dataset/prepare/collection.ts';
import type { Chunk } from '../../../../dataset/prepare/passages/chunks.ts';
import type { Dropped } from '../../../../dataset/prepare/source-record.ts';
import type { PrepareDataReport } from './report.ts';

/**
 * Makes sure that nothing is overwritten unasked, before any work is done.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export function checkOutputFolder(folder: string, overwrite: boolean): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) {
    throw new AgentRlError(
      'OUTPUT_UNWRITABLE',
      `${folder} is a file. Choose a folder with --output.`,
    );
  }
  if (overwrite || readdirSync(folder).length === 0) return;
  throw new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `${folder} is not empty. Choose another folder with --output, or replace the output of an earlier data prepare with --overwrite.`,
  );
}

/** JSONL files of the output folder that are not splits. */
export const besideSplits: ReadonlySet<string> = new Set([
  'documents.jsonl',
  'chunks.jsonl',
  'dropped.jsonl',
]);

export interface Outputs {
  documents: readonly SearchDocument[];
  chunks: readonly Chunk[];
  train: readonly PreparedQuestion[];
  eval: readonly PreparedQuestion[];
  dropped: readonly Dropped[];
  report: PrepareDataReport;
}

/** @throws AgentRlError `OUTPUT_UNWRITABLE` */
export function writeOutputs(folder: string, outputs: Outputs): void {
  const write = (name: string, text: string) => writeFileAtomic(join(folder, name), text);
  write('documents.jsonl', jsonLines(outputs.documents));
  write('chunks.jsonl', jsonLines(outputs.chunks));
  write('train.jsonl', jsonLines(outputs.train.map(taskOf)));
  write('eval.jsonl', jsonLines(outputs.eval.map(taskOf)));
  write('dropped.jsonl', jsonLines(outputs.dropped));
  write('report.json', `${JSON.stringify(outputs.report, undefined, 2)}\n`);
}

const taskOf = ({ id, question, answer, aliases, documents, metadata }: PreparedQuestion) => ({
  task_id: id,
  question,
  answer,
  aliases,
  documents,
  metadata,
});
