import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import { commandLine } from '../support/command-line.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * What a run refuses when it starts, a dry run of it refuses with the same words, and neither leaves a run behind.
 */

const project = temporaryFolder();
const runs = join(project, 'runs');

beforeAll(() => writeSmallModel(join(project, 'model')));

const question = (id: string, prompt = `What is ${id}?`): string =>
  `${JSON.stringify({ task_id: id, question: prompt, answer: id })}\n`;
const long = 'word '.repeat(600);

beforeEach(() => {
  rmSync(runs, { recursive: true, force: true });
  writeBelow(project, 'tasks/train.jsonl', ['1', '2', '3'].map((id) => question(id)).join(''));
  writeBelow(project, 'tasks/eval.jsonl', question('4') + question('5'));
});

const runFile = (changes = ''): string =>
  writeBelow(
    project,
    'run.yaml',
    `datasets: [{ dir: ${project}/tasks }]
environment: { type: question }
model: { path: ${project}/model }
run: { outputDir: ${runs}, name: one, engineThreads: 1, previewTasks: 0 }
policy: { maxTurnTokens: 4, maxContextTokens: 512 }
rollout: { maxEpisodeTokens: 512, tasksPerStep: 1, groupSize: 2, workers: 1 }
algorithm: { microBatchTokens: 512 }
train: { iterations: 1 }
eval: { before: false, after: false }
${changes}`,
  );

const command = (...args: string[]) => commandLine(args, { jobs });

/** What `agent-rl train` says of a run file that it refuses, after it was seen that the dry run says the same. */
async function refused(file: string, ...args: string[]): Promise<string> {
  const dry = await command('train', '--config', file, '--dry-run', ...args);
  expect({ code: dry.code, there: existsSync(join(runs, 'one', 'config.yaml')) }).toEqual({
    code: 2,
    there: false,
  });
  const real = await command('train', '--config', file, ...args);
  expect(real.code).toBe(2);
  expect(dry.stderr).toBe(real.stderr);
  return real.stderr;
}

describe('A dry run and the run both refuse', () => {
  test('a training prompt that leaves no room to answer', async () => {
    writeBelow(project, 'tasks/train.jsonl', question('1') + question('2', long));
    expect(await refused(runFile())).toMatch(
      /DATASET_INVALID: 1 of 4 prompts leave no room to answer in rollout\.maxEpisodeTokens = 512: "2" \(\d+ tokens\)\. .*dataset\.tooLong: skip/,
    );
  });

  test('a held-out prompt that leaves no room to answer', async () => {
    writeBelow(project, 'tasks/eval.jsonl', question('4') + question('5', long));
    expect(await refused(runFile())).toMatch(/1 of 5 prompts leave no room .*"5"/);
  });

  test('a tool whose settings name a missing file', async () => {
    const settings = `tools: [{ type: search, mode: corpus, corpus: { path: ${project}/no-index } }]`;
    expect(await refused(runFile(settings))).toMatch(/CORPUS_INVALID: .*no-index/);
  });

  test('a reward that cannot be opened', async () => {
    const reward = `rewards: [{ type: answer_similarity, embedder: { type: transformers, model: ${project}/no-model } }]`;
    expect(await refused(runFile(reward))).toMatch(/no-model/);
  });

  test('a device that does not exist', async () => {
    expect(await refused(runFile(), '--device', 'cuda:99')).toMatch(/DEVICE_UNAVAILABLE/);
  });

  test('too few tasks to select the best checkpoint', async () => {
    const best = ['--set', 'checkpoint.keepBest=true', '--set', 'eval.every=1'];
    const file = runFile();
    expect(await refused(file, ...best, '--set', 'eval.selectionTasks=3')).toMatch(
      /CONFIG_INVALID: eval\.selectionTasks is 3, but there are only 3 training tasks/,
    );
  });

  test('an output folder whose path leads through a file', async () => {
    const below = join(writeBelow(project, 'occupied', 'a file'), 'runs');
    expect(await refused(runFile(), '--output', below)).toMatch(/OUTPUT_UNWRITABLE: .*--output/);
  });

  test('the name of an existing run', async () => {
    mkdirSync(join(runs, 'one'), { recursive: true });
    expect(await refused(runFile())).toMatch(/OUTPUT_UNWRITABLE: .* already contains a run/);
  });
});

describe('A dry run and the run of supervised training both refuse', () => {
  const conversation = (content: string): string =>
    `${JSON.stringify({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content },
      ],
    })}\n`;
  const file = () => {
    writeBelow(project, 'tasks/train.jsonl', conversation('Hi.'));
    return runFile();
  };
  const sft = ['--set', 'train.mode=sft', '--set', 'policy.thinking=false'];

  test('a device that does not exist', async () => {
    expect(await refused(file(), ...sft, '--device', 'cuda:99')).toMatch(/DEVICE_UNAVAILABLE/);
  });

  test('the name of an existing run', async () => {
    mkdirSync(join(runs, 'one'), { recursive: true });
    expect(await refused(file(), ...sft)).toMatch(/OUTPUT_UNWRITABLE: .* already contains a run/);
  });
});

test('a dry run estimates tokens and memory, and the time only when asked to measure', async () => {
  const file = runFile();
  const plain = await command('train', '--config', file, '--dry-run', '--set', 'run.name=two');
  expect(plain.stdout).toMatch(/^ {2}memory {8}about \d+ MiB/m);
  expect(plain.stdout).toMatch(/^ {2}time {10}not measured: .*--measure/m);
  const measured = ['--dry-run', '--measure', '--set', 'run.name=two'];
  expect((await command('train', '--config', file, ...measured)).stdout).toMatch(
    /^ {2}time {10}about \d+ s, a rough estimate, usually too high/m,
  );
  const { code, stderr } = await command('train', '--config', file, '--measure');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('has no effect without --dry-run'),
  });
  expect(existsSync(join(runs, 'two'))).toBe(false);
});
