import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { describe, expect, test } from '@jest/globals';

import { findSource } from '#dataset/prepare/readers/source-files.ts';
import { tableLimits } from '#dataset/tables/json-lines.ts';
import { readTable } from '#dataset/tables/read-table.ts';
import { readTaskFile, splitFile } from '#dataset/tasks/task-files.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const rows = [
  { question: 'Q', answer: '1' },
  { question: 'Ü', answer: '2' },
];
const texts = {
  jsonl: rows.map((row) => JSON.stringify(row)).join('\n'),
  csv: 'question,answer\nQ,1\nÜ,2\n',
  tsv: 'question\tanswer\nQ\t1\nÜ\t2\n',
  json: JSON.stringify(rows),
};

describe('A packed table', () => {
  test.each(Object.entries(texts))(
    'is read like the table that it packs: %s',
    async (kind, text) => {
      const file = writeBelow(folder, `${kind}/train.${kind}.gz`, gzipSync(text));
      expect(splitFile(join(folder, kind), 'train')).toBe(file);
      expect(findSource(join(folder, kind))).toEqual({ kind: 'files', files: [file] });
      const { tasks } = await readTaskFile(file, 'question');
      const first = kind === 'csv' || kind === 'tsv' ? 2 : 1;
      expect(tasks).toEqual(
        rows.map(({ question, answer }, index) => ({
          taskId: `${kind}-train-${first + index}`,
          prompt: question,
          answer,
          aliases: [],
          metadata: {},
        })),
      );
    },
  );

  test.each(Object.keys(texts))('is refused by name if it is not packed: %s', async (kind) => {
    const file = writeBelow(folder, `plain/a.${kind}.gz`, 'plain');
    const { code, message } = await rejectionOf(readTaskFile(file, 'question'));
    expect([code, message]).toEqual([
      'DATASET_INVALID',
      expect.stringContaining(`Cannot read ${file}: incorrect header check.`),
    ]);
    const none = join(folder, `none.${kind}.gz`);
    expect((await rejectionOf(readTaskFile(none, 'question'))).message).toContain(
      `Cannot read ${none}: there is no such file.`,
    );
  });

  test.each(['json', 'csv', 'jsonl'])('is refused if it unpacks to too much: %s', async (kind) => {
    const file = writeBelow(folder, `big/a.${kind}.gz`, gzipSync('1'.repeat(100_000)));
    const limits = { ...tableLimits, fileBytes: 9999, lineBytes: 9999 };
    const read = async (): Promise<void> => {
      for await (const row of readTable(file, undefined, limits)) expect(row).toBeUndefined();
    };
    const { code, message } = await rejectionOf(read());
    expect(code).toBe('DATASET_INVALID');
    expect(message).toMatch(/holds more than 9999 bytes|:1 is longer than 9999 bytes/);
  });
});
