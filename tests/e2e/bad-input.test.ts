import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import { loadModel, saveModel } from '#model/weights/load-model.ts';
import { sets } from '../support/built-program.ts';
import { commandLine } from '../support/command-line.ts';
import { conversation, question, questionRunFile } from '../support/question-run.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * What a user can get wrong, one mistake of each kind, given to `agent-rl train` as a whole: it ends with 2 and a message
 * without a stack, a dry run says the same words, and neither leaves a run behind.
 */

const project = temporaryFolder();
const runs = join(project, 'runs');
const model = join(project, 'model');
const pristine = join(project, 'pristine');

beforeAll(() => writeSmallModel(pristine));

const tasks = (split: string, ...lines: string[]): string =>
  writeBelow(project, `tasks/${split}.jsonl`, lines.join(''));
beforeEach(() => {
  for (const folder of [runs, model]) rmSync(folder, { recursive: true, force: true });
  cpSync(pristine, model, { recursive: true });
  tasks('train', question('1'), question('2'), question('3'));
  tasks('eval', question('4'), question('5'));
});

const command = (...args: string[]) => commandLine(args, { jobs });

/** What the command says of a run file with these changes, which it refuses. */
async function refused(changes: string, args: readonly string[] = []): Promise<string> {
  const words = ['train', '--config', questionRunFile(project, changes), ...args];
  const [dry, real] = [await command(...words, '--dry-run'), await command(...words)];
  expect([dry.code, real.code]).toEqual([2, 2]);
  expect(real.stderr).toBe(dry.stderr);
  expect(real.stderr).not.toMatch(/\n\s+at /);
  expect(existsSync(join(runs, 'one', 'config.yaml'))).toBe(false);
  return real.stderr;
}

const long = 'word '.repeat(600);
const nothing = () => undefined;
const similarity = `{ type: transformers, model: ${project}/no-model }`;
const code = sets(
  'environment={type: code_exec}',
  'tools=[{type: code_exec}]',
  `datasets=[{dir: ${project}/code, format: code}]`,
);
interface Case {
  title: string;
  damage?: () => unknown;
  changes?: string;
  args?: readonly string[];
  says: RegExp;
}

const cases: readonly Case[] = [
  {
    title: 'a model without weights',
    damage: () => rmSync(join(model, 'model.safetensors')),
    says: /MODEL_INVALID: .*holds no weights/,
  },
  {
    title: 'a truncated tokenizer',
    damage: () => {
      const file = join(model, 'tokenizer.json');
      writeFileSync(file, readFileSync(file).subarray(0, 1000));
    },
    says: /TOKENIZER_INVALID: .*tokenizer\.json/,
  },
  {
    title: 'a held-out task with a duplicate id',
    damage: () => tasks('eval', question('4'), question('4')),
    says: /DATASET_INVALID: .*eval\.jsonl:2 task_id: "4" is already/,
  },
  {
    title: 'an unknown key of a run file',
    args: sets('train.iteration=3'),
    says: /train\.iteration.*"?iterations"?/s,
  },
  {
    title: 'prompts that leave no room to answer',
    damage: () => {
      tasks('train', question('1'), question('2', long));
      tasks('eval', question('4'), question('5', `${long}5`));
    },
    says: /DATASET_INVALID: 2 of 4 prompts leave no room to answer in rollout\.maxEpisodeTokens = 512: "2" \(\d+ tokens\), "5" .*dataset\.tooLong: skip/,
  },
  {
    title: 'a tool whose settings name a missing file',
    changes: `tools: [{ type: search, mode: corpus, corpus: { path: ${project}/no-index } }]`,
    says: /CORPUS_INVALID: .*no-index/,
  },
  {
    title: 'a reward that cannot be opened',
    changes: `rewards: [{ type: answer_similarity, embedder: ${similarity} }]`,
    says: /no-model/,
  },
  {
    title: 'a tracker with settings that it cannot use',
    changes: "trackers: [{ type: mlflow, url: 'not a url' }]",
    says: /CONFIG_INVALID: mlflow: url "not a url" is not an address/,
  },
  {
    title: 'a device that does not exist',
    args: ['--device', 'cuda:99'],
    says: /DEVICE_UNAVAILABLE/,
  },
  {
    title: 'an output folder whose path leads through a file',
    args: ['--output', join(writeBelow(project, 'occupied', 'a file'), 'runs')],
    says: /OUTPUT_UNWRITABLE: .*--output/,
  },
  {
    title: 'the name of an existing run',
    damage: () => mkdirSync(join(runs, 'one'), { recursive: true }),
    says: /OUTPUT_UNWRITABLE: .* already contains a run/,
  },
];

const four = { bits: 4, blockSize: 16 } as const;

test.each(['rl', 'sft'])(
  'a run and its dry run in the mode %s refuse four-bit weights without an adapter',
  async (mode) => {
    if (mode === 'sft') tasks('train', conversation('Hi.'));
    const args = sets(`train.mode=${mode}`, 'policy.thinking=false');
    const atLoad = sets('model.quantize=4bit', 'model.quantizeBlockSize=16');
    const says = /quantised to four bits.*model\.lora/;
    expect(await refused('', [...args, ...atLoad])).toMatch(says);
    await saveModel(model, await loadModel(pristine, { quantize: four }));
    expect(await refused('', args)).toMatch(says);
  },
);

test.each(cases)(
  'a run and its dry run refuse $title',
  async ({ damage = nothing, changes = '', args = [], says }) => {
    damage();
    expect(await refused(changes, args)).toMatch(says);
  },
);

/** What a run alone says, since a dry run reads no weights and writes no file. */
async function refusedByRun(...args: string[]): Promise<string> {
  const words = ['train', '--config', questionRunFile(project), ...args];
  const { code: ended, stderr } = await command(...words);
  expect({ ended, stderr }).toEqual({ ended: 2, stderr: expect.not.stringMatching(/\n\s+at /) });
  expect(existsSync(join(runs, 'one'))).toBe(false);
  return stderr;
}

test('a run refuses NaN among the weights', async () => {
  const file = join(model, 'model.safetensors');
  const bytes = readFileSync(file);
  bytes.writeFloatLE(Number.NaN, bytes.length - 4);
  writeFileSync(file, bytes);
  expect(await refusedByRun()).toMatch(/MODEL_INVALID: .*holds NaN at place/);
});

// Linux alone has a disk that is always full.
const onLinux = existsSync('/dev/full') ? test : test.skip;
onLinux('a run refuses an output folder on a full disk', async () => {
  const message = await refusedByRun('--output', '/dev/full');
  expect(message).toMatch(/OUTPUT_UNWRITABLE: .*--output/);
});

describe('A sandbox', () => {
  const { XDG_CACHE_HOME } = process.env;
  beforeEach(() => {
    for (const split of ['train', 'eval']) {
      const tests = { kind: 'stdin', cases: [{ input: '', output: '1' }] };
      const task = { task_id: split, prompt: `Print ${split}.`, compare: 'whitespace', tests };
      writeBelow(project, `code/${split}.jsonl`, `${JSON.stringify(task)}\n`);
    }
  });
  afterEach(() => {
    if (XDG_CACHE_HOME === undefined) delete process.env['XDG_CACHE_HOME'];
    else process.env['XDG_CACHE_HOME'] = XDG_CACHE_HOME;
  });

  test('is refused when it cannot be prepared, and the error names the folder of its files', async () => {
    process.env['XDG_CACHE_HOME'] = writeBelow(project, 'no-cache', 'a file');
    const message = await refusedByRun(...code, ...sets('sandbox.type=pyodide'));
    expect(message).toMatch(/SANDBOX_UNAVAILABLE: .*no-cache.*XDG_CACHE_HOME/);
  });

  test('is refused, not replaced, when the run file names it and it is unavailable', async () => {
    const named = sets('sandbox.type=native', `sandbox.python=${project}/no-python`);
    const message = await refusedByRun(...code, ...named);
    expect(message).toMatch(/SANDBOX_UNAVAILABLE: No sandbox of type native .*no-python/);
  });

  test('is reported with the reason when a dry run skips it', async () => {
    const words = ['train', '--config', questionRunFile(project), '--dry-run', ...code];
    const ended = await command(...words, ...sets('sandbox.python=no-such-python'));
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('MiB (pyodide)');
    expect(ended.stdout.match(/warning +sandbox skipped: .*no-such-python/g)).toHaveLength(1);
  });
});

test('a dry run estimates tokens and memory, and the time only when asked to measure', async () => {
  const words = ['train', '--config', questionRunFile(project)];
  const plain = await command(...words, '--dry-run');
  expect(plain.stdout).toMatch(/^ {2}memory {8}about \d+ MiB/m);
  expect(plain.stdout).toMatch(/^ {2}time {10}not measured: .*--measure/m);
  expect((await command(...words, '--dry-run', '--measure')).stdout).toMatch(
    /^ {2}time {10}about \d+ s, a rough estimate, usually too high/m,
  );
  const { code: ended, stderr } = await command(...words, '--measure');
  expect([ended, stderr]).toEqual([2, expect.stringContaining('has no effect without --dry-run')]);
  expect(existsSync(join(runs, 'one'))).toBe(false);
});
