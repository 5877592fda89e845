import { describe, expect, test } from '@jest/globals';

import { readTaskFile } from '#dataset/tasks/task-files.ts';
import { CodeTaskDataset, type CodeTaskFormat } from '#dataset/tasks/code-task-dataset.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const dir = temporaryFolder();

describe('a format that is not known is refused, also when every object has something of that name', () => {
  test.each(['constructor', '__proto__', 'toString', 'csv'])('%s', async (format) => {
    const { code, message } = await rejectionOf(readTaskFile(`${dir}/train.jsonl`, format));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toBe(
      `The format "${format}" is not known (datasets[].format, or --format of data verify). Known: code, humaneval, mbpp, plain, search, question.`,
    );
    const read = CodeTaskDataset.fromPath('none.jsonl', { format: format as CodeTaskFormat });
    expect((await rejectionOf(read)).message).toBe(
      `The format "${format}" is not known. Known: code, humaneval, mbpp.`,
    );
  });
});

describe('a plain task', () => {
  const read = (metadata: string) =>
    readTaskFile(
      writeBelow(
        dir,
        'plain.jsonl',
        `{"task_id": "a", "prompt": "Count.", "answer": 2}\n{"task_id": "b", "prompt": "Count.", "metadata": ${metadata}}\n`,
      ),
      'plain',
    );

  test.each(['"abc"', '["abc"]', 'null', '3'])(
    'with metadata that is not an object is refused with its line: %s',
    async (metadata) => {
      const { code, message } = await rejectionOf(read(metadata));
      expect(code).toBe('DATASET_INVALID');
      expect(message).toContain(`plain.jsonl:2 metadata: must be object, got ${metadata}.`);
    },
  );

  test('has its other fields and its metadata as metadata', async () => {
    const { tasks } = await read('{"answer": 3}');
    expect(tasks.map(({ metadata }) => metadata)).toEqual([{ answer: 2 }, { answer: 3 }]);
  });
});
