import { expect, test } from '@jest/globals';

import { verifyDataset } from '#agent_rl/jobs/data/verify-dataset.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const file = writeBelow(
  folder,
  'test.csv',
  'problem,solution\nTwo and two?,"2 + 2 = 4\n#### 4"\nThree and four?,#### 7\n',
);
const { signal } = new AbortController();
const printed: string[] = [];
const options = {
  dataset: file,
  format: 'question',
  print: (text: string) => void printed.push(text),
  signal,
};
const columns = { question: 'problem', answer: 'solution' };

test('columns and answers are read as a run reads them', async () => {
  const read = { ...options, columns, answerPattern: '#### (.+)' };
  expect(await verifyDataset(read)).toMatchObject({ ok: true, tasks: 2 });
  expect(await rejectionOf(verifyDataset(options))).toMatchObject({ code: 'DATASET_INVALID' });
  const { message } = await rejectionOf(verifyDataset({ ...read, answerPattern: '%% (.+)' }));
  expect(message).toContain('answerPattern %% (.+) does not match');
});

test('a pattern that is no regular expression is refused', async () => {
  const refused = await rejectionOf(verifyDataset({ ...options, columns, answerPattern: '(' }));
  expect(refused).toMatchObject({ code: 'CONFIG_INVALID' });
  expect(refused.message).toMatch(/^answerPattern is not a regular expression: .*\./);
});

test('the command passes the columns on, and refuses malformed pairs', async () => {
  const given: unknown[] = [];
  const verify = async (asked: object) => {
    given.push(asked);
    return { ok: true };
  };
  const run = (...pairs: string[]) =>
    commandLine(
      ['data', 'verify', '--dataset', file, ...pairs.flatMap((pair) => ['--column', pair])],
      { jobs: { verifyDataset: verify } },
    );
  await run('question=problem', 'answer=a=b');
  expect(given).toMatchObject([{ columns: { question: 'problem', answer: 'a=b' } }]);
  expect((await run('problem')).stderr).toContain('not of the form FIELD=COLUMN');
  expect((await run('a=b', 'a=c')).stderr).toContain('--column a=c repeats a field');
});
