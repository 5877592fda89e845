import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { writeSmallModel } from '#tests/support/small-model.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const model = join(folder, 'model');
const file = join(folder, 'said', 'train.jsonl');
const started = process.cwd();

beforeEach(async () => {
  process.chdir(folder);
  await writeSmallModel(model);
});
afterEach(() => process.chdir(started));

const go = { role: 'user', content: 'Go.' };

/** A dry run, on the conversations that are given if there are some. */
function planned(
  conversations: readonly object[],
  overrides: Readonly<Record<string, unknown>> = {},
  print?: (text: string) => void,
) {
  const own = { 'policy.thinking': false, 'datasets.0.dir': join(folder, 'said') };
  const lines = conversations.map((row) => JSON.stringify(row));
  if (lines.length > 0) writeBelow(folder, 'said/train.jsonl', lines.join('\n'));
  const config = join(packageRoot(), 'configs', 'code_exec_grpo.yaml');
  const settings = { 'train.mode': 'sft', 'model.path': model, ...(lines.length > 0 && own) };
  const given = { config, overrides: { ...settings, ...overrides }, dryRun: true };
  return trainAgent({ ...given, ...(print && { print }) });
}

test('supervised training finds data that ships with the package from another working directory', async () => {
  // It was found and read: tasks are no conversations, which is said of its lines.
  expect(await rejectionOf(planned([]))).toMatchObject(
    errorOf('DATASET_INVALID', join(packageRoot(), 'dataset', 'code_tasks', 'train.jsonl:1')),
  );
});

test('a conversation that the model cannot have said is named with file and line', async () => {
  const gone = { role: 'assistant', content: 'Gone.' };
  const said = [gone, { ...gone, reasoning: 'hm' }].map((turn) => ({ messages: [go, turn] }));
  expect((await rejectionOf(planned(said))).message).toContain(`${file}:2: `);
});

test('conversations longer than the model has positions are named before training, and one that fills them is not', async () => {
  const said = ['Gone.', 'x y '.repeat(900)].map((content) => ({
    messages: [go, { role: 'assistant', content }],
  }));
  const train = (positions: number, overrides = {}) => {
    const settings = join(model, 'config.json');
    const config = JSON.parse(readFileSync(settings, 'utf8')) as Record<string, unknown>;
    writeFileSync(settings, JSON.stringify({ ...config, max_position_embeddings: positions }));
    return planned(said, overrides);
  };
  const { code, message } = await rejectionOf(train(1024));
  expect(code).toBe('DATASET_INVALID');
  const [, tokens = ''] = /:2 \((\d+) tokens\)/.exec(message) ?? [];
  const place = `${file}:2 (${tokens} tokens)`;
  expect(message).toContain(`are longer than the model's 1024 positions: ${place}. Shorten them, `);
  expect((await rejectionOf(train(Number(tokens) - 1))).code).toBe('DATASET_INVALID');
  const all = { dryRun: true, conversations: 2, leftOut: [] };
  expect(await train(Number(tokens))).toMatchObject(all);
  const skip = { 'dataset.tooLong': 'skip' };
  const memory = { total: expect.any(Number) as unknown };
  const left = { conversations: 1, leftOut: [place], memory };
  expect(await train(1024, skip)).toMatchObject(left);
  // Of nothing, nothing is learned.
  expect((await rejectionOf(train(4, skip))).message).toMatch(
    /^2 of 2 conversations .* Shorten them, remove them, or train/,
  );
});

test('a call that the tools of the run would reject is named with file and line, unless the line brings its own tools', async () => {
  const calling = (name: string, args: object, tools?: readonly object[]) => ({
    messages: [
      go,
      { role: 'assistant', content: '', tool_calls: [{ function: { name, arguments: args } }] },
      { role: 'tool', name, content: '4' },
      { role: 'assistant', content: '4' },
    ],
    ...(tools !== undefined && { tools }),
  });
  const own = { name: 'other', description: 'Other.', parameters: { type: 'object' } };
  const lines = [
    calling('code_exec', { code: 'print(4)' }),
    calling('code_exek', { code: 'print(4)' }),
    calling('code_exec', { cod: 'print(4)' }),
    calling('other', {}, [{ type: 'function', function: own }]),
  ];
  const said: string[] = [];
  await planned(lines, {}, (text) => void said.push(text));
  const [rejected, ...others] = said.filter((text) => text.includes('reject'));
  expect(others).toEqual([]);
  expect(rejected).toMatch(/^Note: 2 conversations of 4 make a call that the run's tools reject: /);
  expect(rejected).toContain(`${file}:2: there is no tool named "code_exek". Tools: code_exec, `);
  expect(rejected).toContain(`${file}:3: invalid arguments for code_exec: arguments must have req`);
});
