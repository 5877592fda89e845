import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import { makeAcmeProject } from '../support/acme-project.ts';
import { commandLine } from '../support/command-line.ts';
import { miniMind3Folder } from '../support/minimind3.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * What a user can get wrong, given to `agent-rl train` as a whole: it ends with 2 and a message without a stack, and
 * leaves no run behind. dry-run.test.ts tries devices and output folders.
 */

const project = temporaryFolder();
const model = join(project, 'model');
const weights = join(model, 'model.safetensors');
const pristine = join(project, 'pristine');

beforeAll(async () => {
  await makeAcmeProject(project);
  cpSync(model, pristine, { recursive: true });
});

beforeEach(() => {
  rmSync(join(project, 'runs'), { recursive: true, force: true });
  rmSync(model, { recursive: true, force: true });
  cpSync(pristine, model, { recursive: true });
});

// No plugins from packages: this process is not the built program, which alone can load them.
const runFile = (changes = ''): string =>
  writeBelow(
    project,
    'bad.yaml',
    `datasets: [{ dir: ${project}/code, format: code }]
environment: { type: code_exec }
tools: [{ type: code_exec }]
model: { path: ${model} }
run: { outputDir: ${project}/runs, name: bad, engineThreads: 1 }
policy: { maxTurnTokens: 8, maxContextTokens: 512 }
rollout: { maxEpisodeTokens: 512, tasksPerStep: 1, groupSize: 2 }
algorithm: { microBatchTokens: 512 }
sandbox: { workers: 1 }
${changes}`,
  );

const task = (id: string, more: object = {}): string =>
  `${JSON.stringify({
    task_id: id,
    prompt: `Print ${id}.`,
    compare: 'whitespace',
    tests: { kind: 'stdin', cases: [{ input: '', output: '1' }] },
    ...more,
  })}\n`;

async function refused(file: string, ...args: string[]): Promise<string> {
  const { code, stderr } = await commandLine(['train', '--config', file, ...args], { jobs });
  expect({ code, stderr: code === 2 ? '' : stderr }).toEqual({ code: 2, stderr: '' });
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(existsSync(join(project, 'runs', 'bad'))).toBe(false);
  return stderr;
}

beforeEach(() => {
  writeBelow(project, 'code/train.jsonl', task('1') + task('2'));
  writeBelow(project, 'code/eval.jsonl', task('3'));
});

describe('A model', () => {
  const damages: readonly (readonly [string, () => unknown, RegExp])[] = [
    [
      'that does not exist',
      () => rmSync(model, { recursive: true }),
      /MODEL_INVALID: .*config\.json/,
    ],
    ['without weights', () => rmSync(weights), /MODEL_INVALID: .*holds no weights/],
    [
      'whose weights are cut short',
      () => writeFileSync(weights, readFileSync(weights).subarray(0, -8)),
      /MODEL_INVALID: .*cut short/,
    ],
    [
      'whose weights have another format',
      () => writeFileSync(weights, 'PK\u0003\u0004 a zip archive'),
      /MODEL_INVALID: .*not a safetensors file/,
    ],
    [
      'with weights of another shape',
      () =>
        writeSmallModel(join(project, 'wide'), { ...smallModelConfig, hiddenSize: 24 }).then(() =>
          cpSync(join(project, 'wide', 'model.safetensors'), weights),
        ),
      /MODEL_INVALID: [^]*is \[6400, 24\]; expected \[6400, 16\]/,
    ],
    [
      'with a smaller vocabulary than its tokenizer',
      () => writeSmallModel(model, { ...smallModelConfig, vocabSize: 100 }),
      /TOKENIZER_INVALID: .*100/,
    ],
    [
      'without a tokenizer',
      () => rmSync(join(model, 'tokenizer.json')),
      /TOKENIZER_INVALID: .*tokenizer\.json/,
    ],
    [
      'with a truncated tokenizer',
      () =>
        writeFileSync(
          join(model, 'tokenizer.json'),
          readFileSync(join(miniMind3Folder, 'tokenizer.json')).subarray(0, 1000),
        ),
      /TOKENIZER_INVALID: .*tokenizer\.json/,
    ],
    [
      'with NaN among its weights',
      () => {
        const bytes = readFileSync(weights);
        bytes.writeFloatLE(Number.NaN, bytes.length - 4);
        writeFileSync(weights, bytes);
      },
      /MODEL_INVALID: .*holds NaN at place/,
    ],
  ];

  test.each(damages)('%s is refused', async (_, damage, message) => {
    await damage();
    expect(await refused(runFile())).toMatch(message);
  });
});

describe('A dataset', () => {
  test.each([
    [
      'that does not exist',
      () => rmSync(join(project, 'code', 'train.jsonl')),
      /DATASET_INVALID: .*train\.jsonl/,
    ],
    [
      'without tasks',
      () => writeBelow(project, 'code/train.jsonl', '\n'),
      /DATASET_INVALID: .*holds no tasks/,
    ],
    [
      'with a duplicate task_id',
      () => writeBelow(project, 'code/eval.jsonl', task('3') + task('3')),
      /DATASET_INVALID: .*eval\.jsonl:2 task_id: "3" is already/,
    ],
    [
      'with a task without tests',
      () => writeBelow(project, 'code/train.jsonl', task('1', { tests: undefined })),
      /DATASET_INVALID: .*the task has no tests/,
    ],
    [
      'with a line that is not UTF-8',
      () => writeBelow(project, 'code/train.jsonl', Buffer.from([0x22, 0xff, 0x22])),
      /DATASET_INVALID: .*not UTF-8/,
    ],
  ])('%s is refused', async (_, damage, message) => {
    damage();
    expect(await refused(runFile())).toMatch(message);
  });
});

describe('A run file', () => {
  test.each([
    ['that is not YAML', 'train: [', /CONFIG_INVALID: [^]*bad\.yaml:\d+:\d+ not valid YAML/],
    ['with an unknown key', 'train: { iteration: 3 }', /train\.iteration.*"?iterations"?/s],
    ['with a value of the wrong type', 'train: { iterations: many }', /train\.iterations.*many/s],
  ])('%s is refused', async (_, changes, message) => {
    expect(await refused(runFile(changes))).toMatch(message);
  });
});

describe('A sandbox', () => {
  const { XDG_CACHE_HOME } = process.env;
  afterEach(() => {
    if (XDG_CACHE_HOME === undefined) delete process.env['XDG_CACHE_HOME'];
    else process.env['XDG_CACHE_HOME'] = XDG_CACHE_HOME;
  });

  test('is refused when it cannot be prepared, and the error names the folder of its files', async () => {
    process.env['XDG_CACHE_HOME'] = writeBelow(project, 'no-cache', 'a file');
    const message = await refused(runFile(), '--set', 'sandbox.type=pyodide');
    expect(message).toMatch(/SANDBOX_UNAVAILABLE: .*no-cache.*XDG_CACHE_HOME/);
    expect(existsSync(join(project, 'runs'))).toBe(false);
  });

  test('is reported with the reason when a dry run skips it', async () => {
    const args = ['--dry-run', '--set', 'sandbox.python=no-such-python'];
    const { code, stdout, stderr } = await commandLine(['train', '--config', runFile(), ...args], {
      jobs,
    });
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('MiB (pyodide)');
    expect(stdout.match(/warning +sandbox skipped: .*no-such-python/g)).toHaveLength(1);
  });

  test('is refused, not replaced, when the run file names it and it is unavailable', async () => {
    const named = ['--set', 'sandbox.type=native', '--set', `sandbox.python=${project}/no-python`];
    const message = await refused(runFile(), ...named);
    expect(message).toMatch(/SANDBOX_UNAVAILABLE: No sandbox of type native .*no-python/);
    expect(existsSync(join(project, 'runs'))).toBe(false);
  });
});

describe('An output folder', () => {
  // Linux alone has a disk that is always full.
  const onLinux = existsSync('/dev/full') ? test : test.skip;
  onLinux('is refused on a full disk', async () => {
    const message = await refused(runFile(), '--output', '/dev/full');
    expect(message).toMatch(/OUTPUT_UNWRITABLE: .*--output/);
  });
});

test.each([[[]], [['--dry-run']]])(
  'a tracker with settings that it cannot use is refused with the options %j',
  async (more) => {
    const file = runFile("trackers: [{ type: mlflow, url: 'not a url' }]");
    const message = await refused(file, ...more);
    expect(message).toMatch(/CONFIG_INVALID: mlflow: url "not a url" is not an address/);
  },
);
