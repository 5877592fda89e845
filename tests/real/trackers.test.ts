import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { startMlflow } from '../support/mlflow/mlflow-server.ts';
import { type Ended, startProgram } from '../support/built-program.ts';
import { descendants, readProcess } from '../support/descendants.ts';
import { killProcess } from '../support/kill-process.ts';
import { askMlflow, capturedMlflow, withoutWords } from '../support/mlflow/mlflow-exchanges.ts';
import { pythonWith, type RealServer } from '../support/real-server.ts';
import { post } from '../support/agent-client.ts';
import { readJson } from '../support/acme-project.ts';
import { ran } from '../support/ran.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

// MLflow, TensorBoard and W&B's SDK as their makers publish them, all three at once. AGENT_RL_TRACKERS_PYTHON names a Python
// that has them; otherwise python3 installs them from PyPI in a temporary folder, which takes a gigabyte. Linux only.

const packages = ['mlflow==3.17.2', 'tensorboard==2.21.0', 'wandb==0.31.0'];
const folder = temporaryFolder();
const runs = join(folder, 'runs');
let python = '';
let mlflow: RealServer;

beforeAll(async () => {
  python = pythonWith('AGENT_RL_TRACKERS_PYTHON', folder, packages);
  mlflow = await startMlflow(python, folder);
});
afterAll(() => mlflow.kill());

/** With time for a machine that is busy. */
const all = (url = mlflow.url) => `trackers:
  - { type: tensorboard }
  - { type: mlflow, url: '${url}', experiment: real, deadlineS: 120, closeS: 300 }
  - { type: wandb, mode: offline, python: '${python}', deadlineS: 120, closeS: 300 }
`;

/** Starts a short run. */
function started(name: string, trackers: string, more: readonly string[] = []) {
  const file = writeBelow(
    folder,
    `${name}.yaml`,
    `extends: ${join(packageRoot(), 'configs', 'code_exec_smoke.yaml')}
run: { name: ${name}, outputDir: ${runs}, engineThreads: 1 }
train: { iterations: 4 }
checkpoint: { every: 2 }
${trackers}`,
  );
  // Nothing here is asked through a proxy.
  const env = { ...process.env, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' };
  const options = { env, timeoutMs: 600_000 };
  return startProgram('agent-rl', ['train', '--config', file, ...more], folder, options);
}

function wellEnded({ code, stderr }: Ended): string {
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stderr;
}

type Reports = Record<string, Record<'recorded' | 'failed' | 'lost' | 'escaped', number>>;
const summaryOf = (name: string) =>
  readJson(join(runs, name), 'summary.json') as { trackers?: Reports; weightsSha256: string };

/** What TensorBoard has of a run is what metrics.jsonl has. */
function holdTensorboard(run: string): void {
  const script = join(packageRoot(), 'scripts', 'conformance', 'read_tensorboard.py');
  expect(ran(python, [script, run])).toMatch(/, 0 differ, 0 are there twice/);
}

/** And what all three have. */
function holdAgainstMetrics(name: string): void {
  const run = join(runs, name);
  holdTensorboard(run);
  const script = join(packageRoot(), 'tests', 'support', 'read_trackers.py');
  const text = ran(python, [script, run, mlflow.url]);
  expect(text).toMatch(/MLflow: \d+ numbers compared, 0 differ/);
  expect(text).toMatch(/W&B: \d+ numbers compared, 0 differ/);
}

test('MLflow answers like the double of the other tests', async () => {
  expect(withoutWords(await askMlflow(mlflow.url))).toEqual(withoutWords(capturedMlflow()));
});

test('each of three concurrent trackers returns every number it received', async () => {
  const { ended } = started('whole', all());
  expect(wellEnded(await ended)).not.toMatch(/Tracker "/);
  // The start, an evaluation before and one after, four iterations, two checkpoints, the summary and the end.
  const each = { recorded: 11, failed: 0, lost: 0, escaped: 0 };
  expect(summaryOf('whole').trackers).toEqual({ tensorboard: each, mlflow: each, wandb: each });
  holdAgainstMetrics('whole');
});

test("MLflow's REST API has the settings of a run, its weights and its end", async () => {
  const { run: id } = readJson(join(runs, 'whole', 'trackers'), 'mlflow.json') as { run: string };
  const answer = await fetch(`${mlflow.url}/api/2.0/mlflow/runs/get?run_id=${id}`);
  const { run } = (await answer.json()) as {
    run: { info: object; data: { params: object[]; tags: object[] } };
  };
  expect(run.info).toMatchObject({ status: 'FINISHED', run_name: 'whole' });
  expect(run.data.params).toContainEqual({ key: 'train.iterations', value: '4' });
  const { weightsSha256 } = summaryOf('whole');
  expect(run.data.tags).toContainEqual({ key: 'agent_rl.weightsSha256', value: weightsSha256 });
});

test('an interrupted and resumed run is one run in each tracker, with each number once', async () => {
  const first = started('resumed', all());
  await first.wrote(/train 2\/4/);
  first.interrupt();
  expect((await first.ended).code).not.toBe(0);
  const run = join(runs, 'resumed');
  const kept = () => ['mlflow', 'wandb'].map((name) => readJson(run, 'trackers', `${name}.json`));
  const [mlflowBefore, wandbBefore] = kept();
  wellEnded(await started('resumed', all(), ['--resume', run]).ended);
  const [mlflowAfter, wandbAfter] = kept();
  expect(mlflowAfter).toEqual(mlflowBefore);
  expect(wandbAfter?.['id']).toBe(wandbBefore?.['id']);
  expect(summaryOf('resumed').weightsSha256).toBe(summaryOf('whole').weightsSha256);
  holdAgainstMetrics('resumed');
});

/** Waits until both have the first iteration of the run. */
async function firstIterationAt(url: string): Promise<void> {
  const name = 'rollout/rewardMean';
  const wandb = join(runs, 'killed', 'trackers', 'wandb.json');
  for (let tries = 0; tries < 3000; tries++) {
    const asked = { experiment_ids: ['1'], filter: `metrics.\`${name}\` >= 0` };
    const found = await fetch(`${url}/api/2.0/mlflow/runs/search`, post(asked));
    const inMlflow = (await found.text()).includes(name);
    if (inMlflow && existsSync(wandb) && readFileSync(wandb, 'utf8').includes(name)) return;
    await sleep(100);
  }
}

test('servers that are killed midway cost a run only the events sent to them', async () => {
  const doomed = await startMlflow(python, folder);
  const longer = ['--set', 'train.iterations=8'];
  const { ended, pid } = started('killed', all(doomed.url), longer);
  await Promise.race([firstIterationAt(doomed.url), ended]);
  const sidecar = descendants(pid).filter((one) =>
    readProcess(`/proc/${one}/cmdline`).includes('sidecar.py'),
  );
  expect(sidecar).toHaveLength(1);
  await doomed.kill();
  killProcess(sidecar[0]);
  const stderr = wellEnded(await ended);
  wellEnded(await started('bare', 'trackers: []', longer).ended);

  expect(summaryOf('killed').weightsSha256).toBe(summaryOf('bare').weightsSha256);
  expect(summaryOf('bare').trackers).toBeUndefined();
  const { tensorboard, mlflow: other, wandb } = summaryOf('killed').trackers ?? {};
  const events = 8 + 4 + 5;
  expect(tensorboard).toEqual({ recorded: events, failed: 0, lost: 0, escaped: 0 });
  for (const report of [other, wandb]) {
    const { recorded = 0, failed = 0, lost = 0, escaped } = report ?? {};
    expect([recorded + failed + lost, escaped]).toEqual([events, 0]);
    // The start, the evaluation before and the first iteration; and what was still to come.
    expect(recorded).toBeGreaterThanOrEqual(3);
    expect(failed + lost).toBeGreaterThanOrEqual(3);
  }
  const log = readFileSync(join(runs, 'killed', 'run.log'), 'utf8');
  for (const text of [stderr, log]) {
    expect(text).toMatch(/Tracker "mlflow".* cannot be reached: .*Training continues/);
    expect(text).toMatch(/Tracker "mlflow": \d+ of 17 events recorded/);
    expect(text).toMatch(/Tracker "wandb".* has exited: it ended with SIGKILL.*Training continues/);
    expect(text).toMatch(/Tracker "wandb": \d+ of 17 events recorded/);
  }
  holdTensorboard(realpathSync(join(runs, 'killed')));
});
