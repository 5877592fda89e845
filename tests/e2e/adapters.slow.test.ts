import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { greedy } from '#agent_rl/core/services/generator.ts';
import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { sizeOf } from '#agent_rl/engine/check-inputs.ts';
import { parameterSpecs } from '#model/config/parameters.ts';
import { type Line, readJson, readLines } from '../support/acme-project.ts';
import { startProgram } from '../support/built-program.ts';
import { searchQuestion } from '../support/question-run.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const base = join(folder, 'base');
const size = { layers: 2, hiddenSize: 32, intermediateSize: 64 };
const small: ModelConfig = { ...smallModelConfig, ...size };
const lora = { rank: 4, targets: ['attention'] };

/** Two tasks, four episodes each, twice; each word of an answer costs. */
const runFile = join(folder, 'run.yaml');
const settings = {
  run: { seed: 7, engineThreads: 1, outputDir: folder, previewTasks: 0 },
  model: { path: base },
  policy: { maxTurnTokens: 16, maxContextTokens: 512 },
  environment: { type: 'search' },
  tools: [{ type: 'search', mode: 'task' }],
  rewards: [{ type: 'length', freeWords: 0 }],
  datasets: [{ dir: join(folder, 'tasks') }],
  rollout: { tasksPerStep: 2, groupSize: 4, workers: 8, maxTurns: 2, maxEpisodeTokens: 512 },
  // Before a run, its speed is measured on as many.
  algorithm: { microBatchTokens: 512 },
  train: { iterations: 2, learningRate: 2e-2, warmupSteps: 0 },
  eval: { before: false, after: false },
  checkpoint: { every: 1 },
};
type Settings = Readonly<Record<string, unknown>>;

const runOf = (name: string): string => join(folder, name);
const stepOf = (name: string, step = 2): string =>
  join(folder, name, 'checkpoints', `step-${step}`);
const metricsOf = (name: string): Line[] => readLines(runOf(name), 'metrics.jsonl');

/** Trains in this process; what is undefined among the settings is left out. */
async function train(name: string, more: Settings = {}): Promise<Line> {
  const all: Settings = { 'run.name': name, 'model.lora': lora, ...more };
  const overrides = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  );
  return trainAgent({ config: runFile, overrides });
}

/** What `agent-rl eval` finds, apart from the model's name. */
async function evaluated(checkpoint: string, config = join(checkpoint, '../../config.yaml')) {
  const prepared = await prepareRun({ file: config, overrides: [], flags: [] });
  const options = { ...prepared, checkpoint, signal: AbortSignal.timeout(60_000) };
  const { model, ...found } = await jobs.evaluate({ ...options, print: () => undefined });
  expect(model).toBe(checkpoint);
  return found;
}

const prompt = 'Who built the bridge?';
/** What a model says when it always takes the likeliest token. */
async function said(model: string): Promise<unknown> {
  const once = { thinking: true, maxTokens: 48, sampling: greedy, samples: 1, batch: 1 };
  const { results } = await jobs.generate({
    ...once,
    model,
    prompt,
    seed: 1,
    device: 'cpu',
    signal: AbortSignal.timeout(60_000),
    print: () => undefined,
  });
  return (results as Line[]).map(({ text }) => text);
}

function adapterOf(checkpoint: string): Float32Array {
  const bytes = readFileSync(join(checkpoint, 'adapter_model.safetensors'));
  const from = bytes.byteOffset + 8 + Number(bytes.readBigUInt64LE());
  return new Float32Array(bytes.buffer.slice(from, bytes.byteOffset + bytes.length));
}

function largestDifference(a: string, b: string): number {
  const other = adapterOf(b);
  return adapterOf(a).reduce((most, value, i) => Math.max(most, Math.abs(value - other[i]!)), 0);
}

const textFiles = ['chat_template.jinja', 'tokenizer.json', 'tokenizer_config.json'];
const adapterFiles = 'adapter_config.json adapter_model.safetensors optimizer.safetensors';
const ownFiles = `${adapterFiles} manifest.json trainer-state.json`.split(' ');
const checkpointFiles = [...ownFiles, ...textFiles].toSorted();

/** A small model whose chat template has a file of its own. */
async function writeModel(path: string): Promise<void> {
  await writeSmallModel(path, small);
  const { chat_template: template, ...tokenizer } = readJson(path, 'tokenizer_config.json');
  writeBelow(path, 'tokenizer_config.json', JSON.stringify(tokenizer));
  writeBelow(path, 'chat_template.jinja', String(template));
}

const kl = { 'algorithm.kl': { kind: 'k3', weight: 0.05 } };
let whole: Line;
beforeAll(async () => {
  await writeModel(base);
  writeBelow(folder, 'run.yaml', stringify(settings));
  writeBelow(folder, 'tasks/train.jsonl', ['a', 'b', 'c'].map(searchQuestion).join(''));
  writeBelow(folder, 'tasks/eval.jsonl', ['d', 'e', 'f', 'g'].map(searchQuestion).join(''));
  whole = await train('whole', kl);
});

describe('A run that trains an adapter', () => {
  test('saves the adapter, its optimiser and the tokenizer, but not the base model', () => {
    expect(readdirSync(stepOf('whole')).toSorted()).toEqual(checkpointFiles);
    expect(readJson(stepOf('whole'), 'adapter_config.json')).toMatchObject({
      base_model_name_or_path: base,
      r: 4,
    });
    // The model is 32 wide, q and o 32, k and v 16 on one side.
    const adapter = 2 * 4 * (2 * (32 + 32) + 2 * (32 + 16));
    const model = parameterSpecs(small).reduce((sum, { shape }) => sum + sizeOf(shape), 0);
    expect(whole).toMatchObject({
      trainedParameters: adapter,
      parameters: model + adapter,
      interrupted: false,
    });
  });

  test('agrees with its generator, starts from the base model and then moves away from it', () => {
    expect(whole['maxAbsLogProbGap']).toBeGreaterThan(0);
    expect(whole['maxAbsLogProbGap']).toBeLessThan(1e-4);
    const [first, second] = metricsOf('whole').map((line) => line['sent/kl']);
    expect(first).toBe(0);
    expect(second).toBeGreaterThan(0);
  });

  test('ends with the same weights when it is killed and resumed with one episode at a time', async () => {
    const flags = Object.entries({ ...kl, 'model.lora': lora, 'run.name': 'killed' }).flatMap(
      ([path, value]) => ['--set', `${path}=${JSON.stringify(value)}`],
    );
    const run = startProgram('agent-rl', ['train', '--config', runFile, ...flags], folder);
    await run.wrote(/Checkpoint \(periodic\): .*step-1/);
    run.kill();
    expect((await run.ended).code).toBeNull();
    const resumed = await trainAgent({
      config: join(runOf('killed'), 'config.yaml'),
      overrides: { 'rollout.workers': 1 },
      resume: runOf('killed'),
    });
    expect(resumed).toMatchObject({ sessions: 2, weightsSha256: whole['weightsSha256'] });
  });
});

describe('The checkpoint of an adapter', () => {
  test('can be evaluated, and gives the same results after merging', async () => {
    const found = await evaluated(stepOf('whole'));
    expect(found).toMatchObject({ tasks: 4, systemFailures: 0 });

    const merged = join(folder, 'merged');
    await jobs.mergeLora({
      baseModel: base,
      loraModels: [stepOf('whole')],
      outputPath: merged,
      signal: new AbortController().signal,
      print: () => undefined,
    });
    expect(readdirSync(merged).toSorted()).toEqual(
      ['config.json', 'model.safetensors', ...textFiles].toSorted(),
    );
    expect(await evaluated(merged, join(runOf('whole'), 'config.yaml'))).toEqual(found);
    const words = await said(stepOf('whole'));
    expect(await said(merged)).toEqual(words);
    expect(await said(base)).not.toEqual(words);
  });

  test('continues training in another run that requests no new adapter', async () => {
    await train('on', {
      'model.path': stepOf('whole'),
      'model.lora': undefined,
      'train.maxIterations': 1,
      // AdamW moves no weight by much more than this.
      'train.learningRate': 1e-6,
    });
    expect(readdirSync(stepOf('on', 1)).toSorted()).toEqual(checkpointFiles);
    expect(readJson(stepOf('on', 1), 'adapter_config.json')).toEqual(
      readJson(stepOf('whole'), 'adapter_config.json'),
    );
    const moved = largestDifference(stepOf('whole'), stepOf('on', 1));
    expect(moved).toBeGreaterThan(0);
    expect(moved).toBeLessThan(2e-6);
  });

  test('serves as the frozen base and the reference of a new adapter', async () => {
    await train('over', {
      ...kl,
      'model.path': stepOf('whole'),
      'model.lora': { rank: 2, targets: ['mlp'] },
      'train.maxIterations': 1,
    });
    expect(metricsOf('over')[0]?.['sent/kl']).toBe(0);
    expect(readdirSync(stepOf('over', 1)).toSorted()).toEqual(
      [...checkpointFiles, 'trained-over.json'].toSorted(),
    );
    expect(readJson(stepOf('over', 1), 'trained-over.json')).toEqual({
      adapters: [stepOf('whole')],
    });
    expect(readJson(stepOf('over', 1), 'adapter_config.json')).toMatchObject({
      base_model_name_or_path: base,
      r: 2,
    });
    expect(await evaluated(stepOf('over', 1))).toMatchObject({ tasks: 4, systemFailures: 0 });
  });
});

test('an adapter over four-bit weights trains, resumes and is evaluated over four-bit weights', async () => {
  const four = { 'model.quantize': '4bit', 'model.quantizeBlockSize': 16, ...kl };
  await train('four', { ...four, 'train.maxIterations': 1 });
  expect(readdirSync(stepOf('four', 1)).toSorted()).toEqual(checkpointFiles);
  const ended = await trainAgent({
    config: join(runOf('four'), 'config.yaml'),
    overrides: { 'train.maxIterations': 2 },
    resume: runOf('four'),
  });
  expect(ended).toMatchObject({ iterations: 2, trainedParameters: whole['trainedParameters'] });
  expect(ended['maxAbsLogProbGap']).toBeLessThan(1e-4);
  expect(ended['weightsSha256']).not.toBe(whole['weightsSha256']);
  const [first, second] = metricsOf('four').map((line) => line['sent/kl']);
  expect([first, Number(second) > 0]).toEqual([0, true]);
  expect(await evaluated(stepOf('four'))).toMatchObject({ tasks: 4, systemFailures: 0 });
});
