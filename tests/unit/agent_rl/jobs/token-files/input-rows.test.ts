import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { InputRows } from '#agent_rl/jobs/token-files/input-rows.ts';
import { readScoreRow, windowsOf, type ScoreRow } from '#agent_rl/jobs/token-files/score.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const rowsOf = (name: string, text: string): InputRows<ScoreRow> =>
  new InputRows(writeBelow(folder, name, text), readScoreRow({ vocabSize: 10, maxPositions: 4 }));

describe('The reader of lines to score', () => {
  test('reads lines in order with their places and names', async () => {
    const rows = rowsOf('good.jsonl', '{"ids":[0,9]}\n\n{"id":"b","ids":[1]}\n{"id":7,"ids":[2]}');
    const seen: number[] = [];
    await rows.check(({ ids }) => seen.push(ids.length));
    expect(seen).toEqual([2, 1, 1]);
    const read = [];
    for await (const row of rows) read.push(row);
    expect(read).toEqual([
      { line: 1, row: { ids: Int32Array.of(0, 9) } },
      { line: 3, row: { id: 'b', ids: Int32Array.of(1) } },
      { line: 4, row: { id: 7, ids: Int32Array.of(2) } },
    ]);
  });

  test.each([
    ['{', ':1: is not JSON'],
    ['[1]', ':1: is [1]; expected an object'],
    ['{"tokens":[1]}', ':1 tokens: is not known; allowed are ids, id.'],
    ['{"id":"a"}', ':1 ids: is nothing; expected a list of at least one token id.'],
    ['{"ids":[]}', ':1 ids: is []; expected a list of at least one token id.'],
    ['{"ids":[1,2.5]}', ':1 ids[1]: is 2.5; token ids of this model are integers from 0 to 9.'],
    ['{"ids":[-1]}', ':1 ids[0]: is -1; token ids'],
    ['{"ids":[1,2,3,4,5]}', ':1 ids: has 5 tokens, and the model has 4 positions.'],
    ['{"ids":[1],"id":null}', ':1 id: is null; expected a string or a number.'],
    ['\n', ':1: the file is empty.'],
  ])('refuses a line with its file and number: %j', async (text, message) => {
    const rows = rowsOf('bad.jsonl', text);
    expect(await rejectionOf(rows.check(() => undefined))).toMatchObject(
      errorOf('DATASET_INVALID', `${rows.file}${message}`),
    );
  });

  test('reports all bad lines together', async () => {
    const rows = rowsOf('many.jsonl', '{"ids":[]}\n{"ids":[1]}\n{"ids":[99],"x":1}\n');
    const error = await rejectionOf(rows.check(() => undefined));
    expect(error.message.split('\n').map((line) => line.replace(rows.file, ''))).toEqual([
      ':1 ids: is []; expected a list of at least one token id.',
      ':3 x: is not known; allowed are ids, id.',
      ':3 ids[0]: is 99; token ids of this model are integers from 0 to 9.',
    ]);
  });

  test.each([
    ['nothing.jsonl', 'no such file'],
    ['', 'it is not a regular file'],
  ])('refuses %j, which it cannot read twice', async (name, why) => {
    const rows = new InputRows(join(folder, name), readScoreRow({ vocabSize: 9, maxPositions: 9 }));
    const refused = rows.check(() => undefined);
    expect(await rejectionOf(refused)).toMatchObject(errorOf('DATASET_INVALID', why));
  });

  test('refuses a file that changed after it was checked', async () => {
    const rows = rowsOf('changed.jsonl', '{"ids":[1]}\n');
    await rows.check(() => undefined);
    rowsOf('changed.jsonl', '{"ids":[1]}\n{"ids":[11]}\n');
    const read = async () => {
      for await (const { line } of rows) expect(line).toBe(1);
    };
    expect((await rejectionOf(read())).message).toContain(':2 ids[0]: is 11');
  });

  test('cuts lines into stretches of at least a number of tokens', async () => {
    const text = [3, 1, 1, 4, 2].map((n) => `{"ids":[${'1'.repeat(n).split('').join()}]}`);
    const rows = rowsOf('windows.jsonl', text.join('\n'));
    const lines = [];
    for await (const window of windowsOf(rows, 4)) lines.push(window.map(({ line }) => line));
    expect(lines).toEqual([[1, 2], [3, 4], [5]]);
  });
});
