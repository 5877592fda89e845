import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { ServeSandboxOptions } from '#agent_rl/jobs/machine/serve-sandbox.ts';
import type { ChatOptions } from '#agent_rl/jobs/play/chat.ts';
import type { Jobs } from '#agent_rl/jobs/jobs.ts';
import { commandLine, jobOf } from '#tests/support/command-line.ts';

const config = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');
const tokens = '--model m --input in.jsonl --output out.jsonl';
const quantize = 'model quantize --model in --output out';
const score = `model score ${tokens}`;
const generate = `model generate ${tokens}`;
const served = 'sandbox serve --port 0 --host ::1 --token-env TOKEN --type native:ns --workers 3';

test.each<[keyof Jobs, string, object]>([
  ['quantize', `${quantize} --text t.txt --seed 7`, { model: 'in', text: 't.txt', seed: 7 }],
  ['quantize', `${quantize} --block-size 32 --lora-rank 0`, { blockSize: 32, lora: undefined }],
  [
    'quantize',
    `${quantize} --lora-rank 4 --lora-targets mlp --lora-targets q_proj`,
    { blockSize: 64, textTokens: 2048, lora: { rank: 4, alpha: 16, targets: ['mlp', 'q_proj'] } },
  ],
  [
    'score',
    `${score} --adapter a --adapter b --device webgpu`,
    { adapters: ['a', 'b'], model: 'm' },
  ],
  ['score', `${score} --device webgpu --batch-tokens 64`, { device: 'webgpu', batchTokens: 64 }],
  // What follows -- is not read as a flag.
  ['score', `${score} -- --onnx`, { adapters: [], device: 'cpu', batchTokens: 4096 }],
  ['score', `${score} --quantize`, { quantize: { bits: 4, blockSize: 64 } }],
  [
    'score',
    `${score} --quantize --quantize-block-size 32`,
    { quantize: { bits: 4, blockSize: 32 } },
  ],
  ['score', `${score} --revision v2`, { input: 'in.jsonl', revision: 'v2' }],
  ['generate', 'model generate --model m --prompt Hi. --tools t', { prompt: 'Hi.', tools: 't' }],
  ['generate', `${generate} --thinking --max-tokens 9`, { thinking: true, maxTokens: 9, seed: 0 }],
  [
    'generate',
    `${generate} --temperature 0.5 --top-k 3 --top-p 0.9 --min-p 0.1 --samples 2 --batch 4`,
    { sampling: { temperature: 0.5, topK: 3, topP: 0.9, minP: 0.1 }, samples: 2, batch: 4 },
  ],
  [
    'generate',
    generate,
    { sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 }, thinking: false, maxTokens: 128 },
  ],
  [
    'mergeLora',
    'model merge-lora --model m --adapter a --adapter b --output out --dtype BF16',
    { baseModel: 'm', loraModels: ['a', 'b'], outputPath: 'out', dtype: 'BF16' },
  ],
  // Other names of the command and of its flags.
  [
    'mergeLora',
    'merge-lora --base-model m --lora-model a --lora-model=b --output-path out',
    { baseModel: 'm', loraModels: ['a', 'b'], outputPath: 'out' },
  ],
  ['evaluateSeveral', `eval model/one m --config ${config}`, { checkpoints: ['model/one', 'm'] }],
  ['newProject', 'new app --agent-rl x.tgz', { folder: 'app', agentRl: 'x.tgz' }],
  ['viewRuns', 'view a --export to', { runs: ['a'], export: 'to' }],
  ['viewRuns', 'view a --export to --export-episodes 0', { exportEpisodes: 0 }],
  ['viewRuns', 'view a --export to --export-episodes all', { exportEpisodes: Infinity }],
  [
    'verifyDataset',
    'data verify --dataset x --sandbox-type native:lite --sandbox-python /p --sandbox-workers 3',
    { sandboxType: 'native:lite', sandboxPython: '/p', sandboxWorkers: 3 },
  ],
  [
    'verifyDataset',
    'data verify --dataset x --column question=problem --column answer=a=b',
    { columns: { question: 'problem', answer: 'a=b' } },
  ],
  ['sandboxDoctor', 'sandbox doctor --preload numpy sympy', { preload: ['numpy', 'sympy'] }],
  ['sandboxDoctor', 'sandbox doctor --python /p', { python: '/p' }],
  [
    'serveSandbox',
    served,
    { port: 0, host: '::1', tokenEnv: 'TOKEN', type: 'native:ns', workers: 3 },
  ],
  // On this machine alone.
  ['serveSandbox', 'sandbox serve', { host: '127.0.0.1', port: 8080, type: 'auto', preload: [] }],
])('the job %s is given the options of the line: %s', async (name, line, expected) => {
  const result = { ok: true, tokens: 3 };
  const ran = await jobOf(name, line.replace(/( -- |$)/, ' --json$1'), { result });
  expect(ran.given).toEqual(expect.objectContaining(expected));
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, result]);
});

test('sandbox serve writes what the job says to stderr with --json, and its result to stdout', async () => {
  const result = { url: 'http://127.0.0.1:1', answers: { 200: 3 } };
  const serveSandbox = async (options: ServeSandboxOptions) => {
    options.print('Ready.');
    options.warn('A retry.');
    return result;
  };
  const { stdout, stderr } = await commandLine([...served.split(' '), '--json'], {
    jobs: { serveSandbox },
  });
  expect([JSON.parse(stdout), stderr]).toEqual([result, 'Ready.\nA retry.\n']);
});

test('sandbox doctor exits with 1 when a sandbox lets something out', async () => {
  const result = { ok: false, auto: null, findings: [] };
  expect((await jobOf('sandboxDoctor', 'sandbox doctor', { result })).code).toBe(1);
});

test.each(['sandbox --help', 'sandbox'])('agent-rl %s lists its commands', async (line) => {
  const { code, stdout } = await commandLine(line.split(' '));
  expect(code).toBe(0);
  expect(stdout).toMatch(/sandbox serve[^]*sandbox doctor/);
});

describe('agent-rl chat', () => {
  test('sends each line of standard input', async () => {
    const heard: unknown[] = [];
    const chat = async ({ ask, checkpoint, prompt }: ChatOptions) => {
      heard.push(checkpoint, prompt);
      for (let line = await ask?.(); line !== undefined; line = await ask?.()) heard.push(line);
      return {};
    };
    const args = ['chat', 'runs/one', '--config', config];
    await commandLine(args, { jobs: { chat }, input: 'One.\n\nTwo.' });
    expect(heard).toEqual(['runs/one', undefined, 'One.', '', 'Two.']);
  });

  test('sends only --prompt', async () => {
    const line = `chat --prompt Hello. --config ${config}`;
    const { given } = await jobOf('chat', line, { input: 'One.' });
    expect([given.prompt, given.ask]).toEqual(['Hello.', undefined]);
  });
});
