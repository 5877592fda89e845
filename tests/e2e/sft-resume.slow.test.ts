import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { readJson, readLines } from '../support/acme-project.ts';
import { episodesIn } from '../support/journal.ts';
import { conversation } from '../support/question-run.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { rejectionOf } from '../support/thrown.ts';

const folder = temporaryFolder();
const runOf = (name: string): string => join(folder, name);
const checkpointsOf = (name: string): string[] =>
  readdirSync(join(runOf(name), 'checkpoints')).toSorted();

/** Eight steps of two of five conversations. */
const settings = {
  run: { seed: 7, engineThreads: 1, outputDir: folder },
  model: { path: join(folder, 'model') },
  environment: { type: 'question' },
  datasets: [{ dir: join(folder, 'talk') }],
  train: { mode: 'sft', iterations: 8, batchSize: 2, learningRate: 1e-2, warmupSteps: 2 },
  checkpoint: { every: 2, keepLast: 3 },
};

const train = (name: string, overrides: Readonly<Record<string, unknown>> = {}) =>
  trainAgent({ config: join(folder, 'run.yaml'), overrides: { 'run.name': name, ...overrides } });

const resume = (name: string, overrides: Readonly<Record<string, unknown>> = {}) =>
  trainAgent({ config: join(runOf(name), 'config.yaml'), resume: runOf(name), overrides });

let whole: Awaited<ReturnType<typeof train>>;

beforeAll(async () => {
  await writeSmallModel(join(folder, 'model'));
  const talks = ['One.', 'Two, more.', 'Three of them.', 'And four.', 'Five at last.'];
  writeBelow(folder, 'talk/train.jsonl', talks.map(conversation).join(''));
  writeBelow(folder, 'run.yaml', stringify(settings));
  whole = await train('whole');
});

const losses = (name: string) =>
  readLines(runOf(name), 'metrics.jsonl').map((line) => [line['iteration'], line['train/loss']]);

test('supervised training saves checkpoints along the way', () => {
  expect(checkpointsOf('whole')).toEqual(['step-4', 'step-6', 'step-8']);
  expect(whole).toMatchObject({ iterations: 8, interrupted: false, sessions: 1 });
});

test('a supervised run that was stopped and resumed ends with the weights and records of an uninterrupted one', async () => {
  const first = await train('stopped', { 'train.maxIterations': 3 });
  expect(first).toMatchObject({ iterations: 3 });
  const second = await resume('stopped', { 'train.maxIterations': 8 });
  expect(second).toMatchObject({
    iterations: 8,
    sessions: 2,
    loss: whole['loss'],
    weightsSha256: whole['weightsSha256'],
  });
  expect(losses('stopped')).toEqual(losses('whole'));
  expect(Number(second['cpuSeconds'])).toBeGreaterThan(Number(first['cpuSeconds']));
});

test('a killed supervised run continues from its newest checkpoint and repeats what it recorded later', async () => {
  await train('killed', { 'train.maxIterations': 5 });
  rmSync(join(runOf('killed'), 'checkpoints', 'step-5'), { recursive: true });
  rmSync(join(runOf('killed'), 'summary.json'));
  expect(await resume('killed', { 'train.maxIterations': 8 })).toMatchObject({
    weightsSha256: whole['weightsSha256'],
  });
  expect(losses('killed')).toEqual(losses('whole'));
});

test('a supervised run without a checkpoint starts over, and a finished one does nothing', async () => {
  cpSync(runOf('whole'), runOf('begun'), { recursive: true });
  rmSync(join(runOf('begun'), 'checkpoints'), { recursive: true });
  const again = await resume('begun');
  expect(again).toMatchObject({ sessions: 1, weightsSha256: whole['weightsSha256'] });
  expect(losses('begun')).toEqual(losses('whole'));
  const done = await resume('begun');
  expect(done).toMatchObject({ iterations: 8, sessions: 2, loss: whole['loss'] });
  expect(done['weightsSha256']).toBe(whole['weightsSha256']);
  expect(readJson(runOf('begun'), 'summary.json')).toMatchObject({ sessions: 2 });
});

/** With attempts at two tasks after steps 3, 6 and 8; what a random model says is never right. */
const evaluated = {
  'datasets.0.dir': join(folder, 'both'),
  'eval.every': 3,
  'eval.temperature': 1,
  'train.until': { success: 0.5 },
  'policy.maxContextTokens': 128,
  'policy.maxTurnTokens': 16,
  'rollout.maxEpisodeTokens': 128,
};

test('evaluations during supervised training change no weights, can be resumed and report a missed success', async () => {
  cpSync(join(folder, 'talk', 'train.jsonl'), join(folder, 'both', 'train.jsonl'));
  writeBelow(
    folder,
    'both/eval.jsonl',
    '{"question": "1 + 1?", "answer": "yes"}\n{"question": "2?", "answer": "no"}\n',
  );
  const missed = await train('evaluated', evaluated);
  expect(missed).toMatchObject({
    ok: false,
    iterations: 8,
    success: 0,
    weightsSha256: whole['weightsSha256'],
  });
  const rates = (name: string) =>
    readLines(runOf(name), 'metrics.jsonl').map((line) => line['eval/successRate']);
  const none = undefined;
  expect(rates('evaluated')).toEqual([none, none, 0, none, none, 0, none, 0]);
  const attempts = async (name: string) =>
    (await episodesIn(runOf(name), 'eval')).map(({ when, iteration, taskId, sequences }) => {
      return { when, iteration, taskId, sequences };
    });
  expect(await attempts('evaluated')).toHaveLength(6);
  await train('evaluated-twice', { ...evaluated, 'train.maxIterations': 4 });
  const resumed = await resume('evaluated-twice', { 'train.maxIterations': 8 });
  expect(resumed['weightsSha256']).toBe(whole['weightsSha256']);
  expect(rates('evaluated-twice')).toEqual(rates('evaluated'));
  expect(await attempts('evaluated-twice')).toEqual(await attempts('evaluated'));
});

test('supervised training that evaluates refuses a task whose prompt does not fit, or leaves it out', async () => {
  cpSync(join(folder, 'both'), join(folder, 'long'), { recursive: true });
  const tasks = readFileSync(join(folder, 'both', 'eval.jsonl'), 'utf8');
  const unfit = `{"question": "${'x y '.repeat(200)}?", "answer": "no"}\n`;
  writeBelow(folder, 'long/eval.jsonl', tasks + unfit);
  const long = { ...evaluated, 'datasets.0.dir': join(folder, 'long') };
  const { message } = await rejectionOf(train('too-long', long));
  expect(message).toMatch(/^1 of 3 prompts leave no room to answer/);
  expect(existsSync(runOf('too-long'))).toBe(false);
  const skipped = await train('skipped', { ...long, 'dataset.tooLong': 'skip' });
  expect(skipped['weightsSha256']).toBe(whole['weightsSha256']);
  const attempts = await episodesIn(runOf('skipped'), 'eval');
  expect(new Set(attempts.map(({ taskId }) => taskId)).size).toBe(2);
});

test('a run cannot be resumed in another mode', async () => {
  for (const mode of ['sft', 'rl']) {
    const path = runOf(`begun-as-${mode}`);
    cpSync(runOf('whole'), path, { recursive: true });
    // With a batch size, reinforcement learning would be refused for that.
    const text = readFileSync(join(path, 'config.yaml'), 'utf8').replace(/^ +batchSize: .*\n/m, '');
    writeBelow(path, 'config.yaml', text.replace('mode: sft', `mode: ${mode}`));
  }
  for (const split of ['train', 'eval'])
    writeBelow(folder, `tasks/${split}.jsonl`, `{"question": "${split}?", "answer": "yes"}\n`);
  const asRl = { 'train.mode': 'rl', 'datasets.0.dir': join(folder, 'tasks') };
  const begunAs = (before: string, now: string): string =>
    `begun-as-${before} was started with train.mode ${before} and cannot be resumed with ${now}. Restore the setting, or start a new run from its checkpoint with --model.`;
  const sft = await rejectionOf(resume('begun-as-sft', asRl));
  expect(sft.message).toContain(begunAs('sft', 'rl'));
  const rl = await rejectionOf(resume('begun-as-rl', { 'train.mode': 'sft' }));
  expect(rl.message).toContain(begunAs('rl', 'sft'));
});
