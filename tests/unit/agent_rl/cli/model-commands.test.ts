import { describe, expect, test } from '@jest/globals';

import type { JobResult } from '#agent_rl/jobs/job.ts';
import type { ExportOptions } from '#agent_rl/jobs/models/export-model.ts';
import type { GenerateOptions } from '#agent_rl/jobs/token-files/generate.ts';
import type { MergeLoraOptions } from '#agent_rl/jobs/models/merge-lora.ts';
import type { QuantizeOptions } from '#agent_rl/jobs/models/model-choice.ts';
import type { ScoreOptions } from '#agent_rl/jobs/token-files/score.ts';
import { commandLine, type Ran } from '#tests/support/command-line.ts';

interface Given extends Ran {
  options: Partial<
    ScoreOptions & GenerateOptions & MergeLoraOptions & QuantizeOptions & ExportOptions
  >[];
}

/** Runs a command line and tells what its job was given. */
async function given(...args: string[]): Promise<Given> {
  const options: object[] = [];
  const job = (of: object): Promise<JobResult> => {
    options.push(of);
    return Promise.resolve({ tokens: 3 });
  };
  const ran = await commandLine(args, {
    jobs: { score: job, generate: job, mergeLora: job, quantize: job, exportModel: job },
  });
  return { ...ran, options };
}

const four = ['--model', 'm', '--output', 'four'];

describe('agent-rl model quantize', () => {
  test.each([
    ['--block-size', 'abc', 'is "abc"; expected a whole number from 16.'],
    ['--text-tokens', '0', 'is "0"; expected a whole number from 2.'],
    ['--lora-rank', '-1', 'is "-1"; expected a whole number from 0.'],
    ['--lora-alpha', '0', 'is "0"; expected a number above 0.'],
    ['--engine-threads', '0', 'is "0"; expected a whole number from 1.'],
  ])('refuses %s %s', async (flag, value, message) => {
    const { code, stderr } = await given('model', 'quantize', ...four, flag, value);
    expect(code).toBe(2);
    expect(stderr).toContain(`CONFIG_INVALID: ${flag} ${message}`);
  });
});

test.each([
  ['--lora-alpha', '3'],
  ['--lora-targets', 'mlp'],
])('agent-rl model quantize refuses %s without an adapter to write', async (flag, value) => {
  const { code, stderr } = await given(
    'model',
    'quantize',
    ...four,
    '--lora-rank',
    '0',
    flag,
    value,
  );
  expect(code).toBe(2);
  expect(stderr).toContain('no effect with --lora-rank 0');
});

const files = ['--model', 'm', '--input', 'in.jsonl', '--output', 'out.jsonl'];

describe('agent-rl model score', () => {
  test('passes its flags to the job', async () => {
    const flags = '--adapter a --adapter b --device webgpu --batch-tokens 64'.split(' ');
    const { options, code, stdout } = await given('model', 'score', ...files, ...flags, '--json');
    expect(options).toEqual([
      expect.objectContaining({
        model: 'm',
        input: 'in.jsonl',
        output: 'out.jsonl',
        adapters: ['a', 'b'],
        device: 'webgpu',
        batchTokens: 64,
      }),
    ]);
    expect({ code, result: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      result: { tokens: 3 },
    });
  });

  test('has defaults', async () => {
    const { options } = await given('model', 'score', ...files);
    expect(options[0]).toMatchObject({ adapters: [], device: 'cpu', batchTokens: 4096 });
    expect(options[0]).not.toHaveProperty('engineThreads');
  });

  test('quantises in blocks of 64, or of the size that is given', async () => {
    const { options } = await given('model', 'score', ...files, '--quantize', '--revision', 'v2');
    expect(options[0]).toMatchObject({ quantize: { bits: 4, blockSize: 64 }, revision: 'v2' });
    const block = ['--quantize-block-size', '32'];
    const other = await given('model', 'score', ...files, '--quantize', ...block);
    expect(other.options[0]).toMatchObject({ quantize: { bits: 4, blockSize: 32 } });
    const without = await given('model', 'score', ...files, ...block);
    expect({ code: without.code, options: without.options }).toEqual({ code: 2, options: [] });
    expect(without.stderr).toContain('--quantize-block-size 32 has no effect without --quantize');
  });

  test('needs a model, an input and an output', async () => {
    const { code, stderr, options } = await given('model', 'score', '--model', 'm');
    expect({ code, options }).toEqual({ code: 2, options: [] });
    expect(stderr).toContain('Missing required arguments: input, output');
  });
});

describe('agent-rl model generate', () => {
  test('asks for what its flags say', async () => {
    const asked = '--model m --prompt Hello. --tools tools.json --thinking';
    const drawing = '--temperature 0.5 --top-k 3 --top-p 0.9 --min-p 0.1 --seed 7';
    const counts = '--samples 2 --batch 4 --max-tokens 9 --engine-threads 2';
    const { options } = await given(
      'model',
      'generate',
      ...`${asked} ${drawing} ${counts}`.split(' '),
    );
    expect(options).toEqual([
      expect.objectContaining({
        prompt: 'Hello.',
        tools: 'tools.json',
        thinking: true,
        maxTokens: 9,
        engineThreads: 2,
        sampling: { temperature: 0.5, topK: 3, topP: 0.9, minP: 0.1 },
        seed: 7,
        samples: 2,
        batch: 4,
      }),
    ]);
  });

  test('samples 128 tokens of the whole distribution by default', async () => {
    const { options } = await given('model', 'generate', ...files);
    expect(options[0]).toMatchObject({
      maxTokens: 128,
      sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 },
      seed: 0,
      samples: 1,
      batch: 16,
      thinking: false,
    });
  });
});

describe('The command line', () => {
  test.each([
    ['score', '--batch-tokens', '0', 'is "0"; expected a whole number from 1.'],
    ['score', '--batch-tokens', '1.5', 'is "1.5"; expected a whole number from 1.'],
    ['score', '--engine-threads', 'all', 'is "all"; expected a whole number from 1.'],
    ['generate', '--temperature', '-1', 'is "-1"; expected a number from 0.'],
    ['generate', '--temperature', 'Infinity', 'is "Infinity"; expected a number from 0.'],
    ['generate', '--top-p', '0', 'is "0"; expected a number above 0 to 1.'],
    ['generate', '--min-p', '2', 'is "2"; expected a number from 0 to 1.'],
    ['generate', '--top-k', ' ', 'is " "; expected a whole number from 0.'],
    ['generate', '--seed', '1e99', 'is "1e99"; expected a whole number from 0.'],
  ])('refuses a number as it was written: %s %s %s', async (command, flag, value, message) => {
    const { code, stderr, options } = await given('model', command, ...files, flag, value);
    expect({ code, options }).toEqual({ code: 2, options: [] });
    expect(stderr).toContain(`CONFIG_INVALID: ${flag} ${message}`);
  });
});

test('agent-rl model merge-lora passes its flags and several adapters to the job', async () => {
  const flags = '--model m --adapter a --adapter b --output out --dtype BF16';
  const { options } = await given('model', 'merge-lora', ...flags.split(' '));
  expect(options).toEqual([
    expect.objectContaining({
      baseModel: 'm',
      loraModels: ['a', 'b'],
      outputPath: 'out',
      dtype: 'BF16',
    }),
  ]);
});

test('agent-rl model merge-lora has other names for its flags', async () => {
  const line = 'merge-lora --base-model m --lora-model a --lora-model=b --output-path out';
  const { code, options, stderr } = await given(...line.split(' '));
  const expected = { baseModel: 'm', loraModels: ['a', 'b'], outputPath: 'out' };
  expect([code, options, stderr]).toEqual([0, [expect.objectContaining(expected)], '']);
});

test('agent-rl model merge-lora refuses a flag under two names', async () => {
  const line = 'merge-lora --model m --base-model n --adapter a --output out';
  const { code, stderr } = await given(...line.split(' '));
  expect(code).toBe(2);
  expect(stderr).toContain('--model was given 2 times (m, n)');
});

test('what follows -- is not read as a flag', async () => {
  const { code, stderr } = await given('model', 'score', ...files, '--', '--onnx');
  expect([code, stderr]).toEqual([0, '']);
});
