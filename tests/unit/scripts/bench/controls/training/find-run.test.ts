import { cpSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { thisMachine } from '#agent_rl/runs/inputs/machine.ts';
import { readInputs, writeInputs } from '#agent_rl/runs/inputs/run-inputs.ts';
import { writeRunConfig } from '#agent_rl/runs/open-run.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { iterationsWithin, trainFor } from '#scripts/bench/controls/training/equal-seconds.ts';
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

const writeTask = (split: string, prompt: string) =>
  writeBelow(project, `tasks/${split}.jsonl`, JSON.stringify({ task_id: split, prompt }));

beforeEach(async () => {
  process.chdir(project);
  const run = 'datasets: [{dir: tasks}]\nenvironment: {type: code_exec}\nmodel: {path: model}\n';
  writeBelow(project, 'run.yaml', run);
  writeTask('train', 'Count.');
  writeTask('eval', 'Count.');
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

  test('is found wherever it and its tasks are', async () => {
    cpSync('tasks', 'same-tasks', { recursive: true });
    const found = await find('run.seed=7', 'run.outputDir=other', 'datasets.0.dir=same-tasks');
    expect(found).toBeDefined();
  });

  test.each([
    [true, ['run.seed=7', 'run.logRollouts=true']],
    [true, ['run.seed=7', 'rollout.workers=3']],
    [false, ['run.seed=8']],
    [false, ['run.seed=7', 'train.learningRate=0.5']],
  ])('is found, %s, with the settings %j', async (found, settings) => {
    expect((await find(...settings)) !== undefined).toBe(found);
  });

  test('is not found with other tasks or weights under the same names', async () => {
    writeTask('train', 'Add.');
    expect(await find('run.seed=7')).toBeUndefined();
    writeTask('train', 'Count.');
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

describe('iterationsWithin', () => {
  const short = { iterations: 1, cpuSeconds: 5 };
  const long = { iterations: 3, cpuSeconds: 9 };

  test('counts iterations after the cost of starting', () => {
    // 2 s an iteration after 3 s of starting: 3 + 2 x 20 = 43.
    expect(iterationsWithin(43, short, long)).toBe(20);
    const none = 'the number of iterations';
    expect(() => iterationsWithin(3, short, long)).toThrow(none);
    expect(() => iterationsWithin(40, short, { ...long, cpuSeconds: 5 })).toThrow(none);
  });
});

describe('A training for a number of processor seconds', () => {
  /** Takes 3 s to start and `each` s for each iteration. */
  const trained = async (cpuSeconds: number, each: (iterations: number) => number) => {
    const names: string[] = [];
    const last = await trainFor(cpuSeconds, [1, 3], async (name, iterations) => {
      names.push(`${name} ${iterations}`);
      return { name, iterations, cpuSeconds: 3 + iterations * each(iterations) };
    });
    return { names, last };
  };

  test.each<[string, [number, (iterations: number) => number], string, number]>([
    ['has its length from two short trials', [43, () => 2], 'whole 20', 43],
    // 20 iterations take 63 s; by this and the first, 13 take 42.
    ['is repeated if it costs more', [43, (n) => (n > 3 ? 3 : 2)], 'whole 20 whole-again 13', 42],
    ['is not repeated if no other number is nearer', [7.4, () => 2.9], 'whole 2', 8.8],
  ])('%s', async (_, asked, whole, cpuSeconds) => {
    const { names, last } = await trained(...asked);
    expect(names.join(' ')).toBe(`trial-short 1 trial-long 3 ${whole}`);
    expect(last.cpuSeconds).toBeCloseTo(cpuSeconds, 9);
  });
});
