import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { writeSmallModel } from '#tests/support/small-model.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const started = process.cwd();

beforeEach(() => process.chdir(folder));
afterEach(() => process.chdir(started));

/** A dry run on the conversations in `said/`. */
const planned = (
  model: string,
  overrides: Readonly<Record<string, unknown>> = {},
  print?: (text: string) => void,
) =>
  trainAgent({
    ...(print !== undefined && { print }),
    config: join(packageRoot(), 'configs', 'code_exec_grpo.yaml'),
    overrides: {
      'train.mode': 'sft',
      'model.path': model,
      'policy.thinking': false,
      'datasets.0.dir': join(folder, 'said'),
      ...overrides,
    },
    dryRun: true,
  });

test('supervised training finds data that ships with the package from another working directory', async () => {
  const model = join(folder, 'model');
  await writeSmallModel(model);
  const { code, message } = await rejectionOf(
    trainAgent({
      config: join(packageRoot(), 'configs', 'code_exec_grpo.yaml'),
      overrides: { 'train.mode': 'sft', 'model.path': model },
      dryRun: true,
    }),
  );
  // It was found and read: tasks are no conversations, which is said of its lines.
  expect(code).toBe('DATASET_INVALID');
  expect(message).toContain(join(packageRoot(), 'dataset', 'code_tasks', 'train.jsonl:1'));
});

test('a conversation that the model cannot have said is named with file and line', async () => {
  const model = join(folder, 'model');
  await writeSmallModel(model);
  const said = (reasoning?: string) => ({
    messages: [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: 'Gone.', ...(reasoning !== undefined && { reasoning }) },
    ],
  });
  writeBelow(
    folder,
    'said/train.jsonl',
    [said(), said('hm')].map((row) => JSON.stringify(row)).join('\n'),
  );
  const { message } = await rejectionOf(planned(model));
  expect(message).toContain(`${join(folder, 'said', 'train.jsonl')}:2: `);
});

test('conversations longer than the model has positions are named before training, and one that fills them is not', async () => {
  const model = join(folder, 'model');
  await writeSmallModel(model);
  const of = (content: string) =>
    JSON.stringify({
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content },
      ],
    });
  writeBelow(folder, 'said/train.jsonl', [of('Gone.'), of('x y '.repeat(900))].join('\n'));
  const train = (positions: number, overrides = {}) => {
    const file = join(model, 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...config, max_position_embeddings: positions }));
    return planned(model, overrides);
  };
  const { code, message } = await rejectionOf(train(1024));
  expect(code).toBe('DATASET_INVALID');
  const [, tokens = ''] = /:2 \((\d+) tokens\)/.exec(message) ?? [];
  expect(message).toBe(
    `1 of 2 conversations are longer than the model's 1024 positions: ${join(folder, 'said', 'train.jsonl')}:2 (${tokens} tokens). Shorten them, remove them, skip them with dataset.tooLong: skip, or train a model with more positions.`,
  );
  expect((await rejectionOf(train(Number(tokens) - 1))).code).toBe('DATASET_INVALID');
  expect(await train(Number(tokens))).toMatchObject({
    dryRun: true,
    conversations: 2,
    leftOut: [],
  });
  const skip = { 'dataset.tooLong': 'skip' };
  expect(await train(1024, skip)).toMatchObject({
    conversations: 1,
    leftOut: [`${join(folder, 'said', 'train.jsonl')}:2 (${tokens} tokens)`],
    memory: { total: expect.any(Number) },
  });
  // Of nothing, nothing is learned.
  expect((await rejectionOf(train(4, skip))).message).toMatch(
    /^2 of 2 conversations .* Shorten them, remove them, or train/,
  );
});

test('a call that the tools of the run would reject is named with file and line, unless the line brings its own tools', async () => {
  const model = join(folder, 'model');
  await writeSmallModel(model);
  const calling = (name: string, args: object, tools?: readonly object[]) =>
    JSON.stringify({
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: '', tool_calls: [{ function: { name, arguments: args } }] },
        { role: 'tool', name, content: '4' },
        { role: 'assistant', content: '4' },
      ],
      ...(tools !== undefined && { tools }),
    });
  const own = {
    type: 'function',
    function: { name: 'other', description: 'Other.', parameters: { type: 'object' } },
  };
  const lines = [
    calling('code_exec', { code: 'print(4)' }),
    calling('code_exek', { code: 'print(4)' }),
    calling('code_exec', { cod: 'print(4)' }),
    calling('other', {}, [own]),
  ];
  writeBelow(folder, 'said/train.jsonl', lines.join('\n'));
  const said: string[] = [];
  await planned(model, {}, (text) => void said.push(text));
  const file = join(folder, 'said', 'train.jsonl');
  expect(said.filter((text) => text.includes('reject'))).toEqual([
    `Note: 2 conversations of 4 make a call that the run's tools reject: ${file}:2: there is no tool named "code_exek". Tools: code_exec, ${file}:3: invalid arguments for code_exec: arguments must have required property 'code'; arguments must NOT have additional properties (cod). Arguments: code (string). Fix these calls, unless they are meant to teach what to do after an error.`,
  ]);
});
