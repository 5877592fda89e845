import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { loadConfig } from '#agent_rl/config/index.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { type Answer, ask, policies, successRate } from '#tests/support/scripted-questions.ts';
import { csvOf, parquetOf, type TableRow } from '#tests/support/table-files.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const fixtures = join(packageRoot(), 'tests', 'fixtures', 'questions');
const folder = temporaryFolder();
const rows = readFileSync(join(fixtures, 'gsm8k.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as TableRow);
const renamed = rows.map((row) => ({
  problem: row['question'] ?? '',
  solution: row['answer'] ?? '',
}));
writeBelow(folder, 'csv.csv', csvOf(renamed));
writeBelow(folder, 'parquet.parquet', parquetOf(renamed));

const environment = { type: 'question', match: 'number' };
const columns = { question: 'problem', answer: 'solution' };

const ofAime = { question: 'input', answer: 'output' };

const sources = [
  { split: 'gsm8k', rows: 12, datasets: [{ dir: fixtures }] },
  { split: 'aime24', rows: 5, datasets: [{ dir: fixtures, columns: ofAime }] },
  { split: 'csv', rows: 12, datasets: [{ dir: folder, columns }] },
  { split: 'parquet', rows: 12, datasets: [{ dir: folder, columns }] },
] as const;

describe.each(sources)('The questions of $split', ({ split, rows: count, datasets }) => {
  test.each([
    ['right', 1],
    ['wrong', 0],
    ['unparsable', 0],
  ] as const)('a policy whose answers are %s has the success rate %d', async (name, rate) => {
    const played = await ask({ environment, datasets }, { split, answer: policies[name] });
    expect([played.length, successRate(played)]).toEqual([count, rate]);
  });
});

describe('A question with an answer pattern', () => {
  const datasets = [{ dir: folder, columns, answerPattern: '#### (.+)' }];
  const settings = { environment: { type: 'question' }, datasets };

  test('is compared with the matched answer', async () => {
    const answer = policies.right;
    const played = await ask(settings, { split: 'csv', answer });
    expect(successRate(played)).toBe(1);
  });

  test('is refused as a worked solution without the pattern', async () => {
    const unmatched = { ...settings, datasets: [{ dir: folder, columns }] };
    const asking = ask(unmatched, { split: 'csv', answer: policies.right });
    const error = await rejectionOf(asking);
    expect(error).toMatchObject(errorOf('DATASET_INVALID', '12 of 12 tasks cannot be judged:'));
    expect(error.message).toContain("datasets[].answerPattern: '#### (.+)', or set");
    expect(error.message.split('\n')).toHaveLength(7);
  });
});

test('a question with an incomparable label is refused with file and line, for any kind of file', async () => {
  // Which labels are refused is tested with the reader of labels.
  const labels = ['5 feet 3 inches', 'x > 3', '2 million', '3:15', '\\text{(C)}\\ 17', '2^{10^9}'];
  const lines = ['25 cm^2', ...labels].map((answer) =>
    JSON.stringify({ question: answer, answer }),
  );
  const text = ['{"question": "small", "answer": 1e-7}', ...lines].join('\n');
  writeBelow(folder, 'labels/eval.jsonl', text);
  const datasets = [{ dir: `${folder}/labels` }];
  const asking = ask({ environment, datasets }, { split: 'eval', answer: () => '1' });
  const { code, message } = await rejectionOf(asking);
  const [first, second, , , , , more] = message.split('\n');
  expect([code, first]).toEqual(['DATASET_INVALID', '6 of 8 tasks cannot be judged:']);
  const third = `${folder}/labels/eval.jsonl:3 Task "labels-eval-3": its answer "5 feet 3 inches" `;
  expect(second).toContain(third);
  expect(more).toBe('  …');
});

describe('A folder of questions', () => {
  writeBelow(folder, 'maths/eval.csv', 'problem,answer\nM,#### 1\n');
  writeBelow(folder, 'words/eval.csv', 'ask,answer\nW,two\n');
  const answers: Readonly<Record<string, string>> = { M: '1', W: 'two' };
  const answer: Answer = ({ prompt }) => answers[prompt] ?? '';

  test('is read by its own block', async () => {
    const settings = {
      environment: { type: 'question' },
      datasets: [
        { dir: `${folder}/maths`, columns: { question: 'problem' }, answerPattern: '\\d' },
        { dir: `${folder}/words`, columns: { question: 'ask' }, answerPattern: '\\w+' },
      ],
    };
    const played = await ask(settings, { split: 'eval', answer });
    expect([played.length, successRate(played)]).toEqual([2, 1]);
  });

  test('is refused with an invalid regular expression', () => {
    const settings = { environment, datasets: [{ dir: 'a', answerPattern: '(' }] };
    expect(() => loadConfig({ file: 'run.yaml', settings })).toThrow(
      /datasets\.0\.answerPattern: Invalid regular expression/,
    );
  });
});

const judged = {
  environment: { type: 'question', match: 'rewards' },
  rewards: [{ type: 'numeric' }],
};
const settings = { ...judged, datasets: [{ dir: fixtures }] };

test.each([
  ['right', 1],
  ['wrong', 0],
] as const)(
  'Questions judged only by rewards a question is solved if the weighted sum of the rewards says so: %s',
  async (name, rate) => {
    const played = await ask(settings, { split: 'gsm8k', answer: policies[name] });
    expect(successRate(played)).toBe(rate);
    const outcome = rate === 1 ? 'completed' : 'wrong-answer';
    const scores = { environment: 0, numeric: rate };
    expect(played[0]?.parts[0]).toMatchObject({ reward: rate, outcome, scores });
  },
);
