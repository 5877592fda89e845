import { cpSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { thisMachine } from '#agent_rl/runs/inputs/machine.ts';
import { readInputs, writeInputs } from '#agent_rl/runs/inputs/run-inputs.ts';
import { writeRunConfig } from '#agent_rl/runs/open-run.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { findRun } from '#scripts/bench/controls/training/find-run.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const started = process.cwd();
const project = temporaryFolder();
const summary = { seed: 7, interrupted: false, evaluationCpuSeconds: 5 };
const load = (...overrides: string[]) =>
  loadConfig({ file: join(project, 'run.yaml'), overrides }).config;
const sources = (seed: number) => ({
  seed,
  trainFiles: [join(project, 'tasks/train.jsonl')],
  readings: [],
  evalFiles: [join(project, 'tasks/eval.jsonl')],
  model: { base: join(project, 'model'), adapters: [] },
  machine: thisMachine({ device: 'cpu', engineThreads: 1 }),
});
const find = (...overrides: string[]) => {
  const config = load(...overrides);
  return findRun('runs', config, sources(config.run.seed));
};

beforeEach(async () => {
  process.chdir(project);
  const run = 'datasets: [{dir: tasks}]\nenvironment: {type: code_exec}\nmodel: {path: model}\n';
  writeBelow(project, 'run.yaml', run);
  for (const split of ['train', 'eval'])
    writeBelow(project, `tasks/${split}.jsonl`, `{"task_id": "${split}", "prompt": "Count."}\n`);
  writeBelow(project, 'model/config.json', '{}');
  writeBelow(project, 'model/model.safetensors', 'first');
  writeBelow(project, 'runs/one/summary.json', JSON.stringify(summary));
  const folder = runFolderAt(join(project, 'runs/one'));
  const { model, ...rest } = load('run.seed=7');
  const absolute = {
    datasets: [{ dir: join(project, 'tasks'), weight: 1 }],
    model: { ...model, path: join(project, 'model') },
  };
  writeRunConfig(folder, { ...rest, ...absolute });
  writeInputs(folder, await readInputs(sources(7)));
});

afterEach(() => {
  process.chdir(started);
});

describe('A finished run', () => {
  test('is found although its config has absolute paths', async () => {
    expect(await find('run.seed=7')).toEqual({ ...summary, run: join('runs', 'one') });
  });

  test('is found whatever it logged, and wherever it and its tasks are', async () => {
    cpSync('tasks', 'same-tasks', { recursive: true });
    const found = await find('run.seed=7', 'run.outputDir=other', 'datasets.0.dir=same-tasks');
    expect(found).toBeDefined();
    expect(await find('run.seed=7', 'run.logRollouts=true')).toBeDefined();
  });

  test('is found with another number of workers', async () => {
    expect(await find('run.seed=7', 'rollout.workers=3')).toBeDefined();
  });

  test('is not found with another seed or another setting', async () => {
    expect(await find('run.seed=8')).toBeUndefined();
    expect(await find('run.seed=7', 'train.learningRate=0.5')).toBeUndefined();
  });

  test('is not found with other tasks or weights under the same names', async () => {
    writeBelow(project, 'tasks/train.jsonl', '{"task_id": "train", "prompt": "Add."}\n');
    expect(await find('run.seed=7')).toBeUndefined();
    writeBelow(project, 'tasks/train.jsonl', '{"task_id": "train", "prompt": "Count."}\n');
    expect(await find('run.seed=7')).toBeDefined();
    writeBelow(project, 'model/model.safetensors', 'second');
    expect(await find('run.seed=7')).toBeUndefined();
  });

  test('is not found if it was interrupted', async () => {
    const interrupted = JSON.stringify({ ...summary, interrupted: true });
    writeBelow(project, 'runs/one/summary.json', interrupted);
    expect(await find('run.seed=7')).toBeUndefined();
  });
});
