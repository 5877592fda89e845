import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { jobs } from '#agent_rl/jobs/jobs.ts';
import { type StartedProgram, startProgram } from '../support/built-program.ts';
import { type ChaosProxy, startChaosProxy } from '../support/chaos-proxy.ts';
import type { RealServer } from '../support/real-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { starter } from '../support/vllm/opened-vllm.ts';
import { servable, startVllm, vllmProgram } from '../support/vllm/real-vllm.ts';

// 64 episodes at once whose tools take half a second, on a vLLM that runs 16 requests at once. See `vllm.test.ts` for the
// environment.

const atOnce = 16;
const episodes = 64;
const tokenEnv = 'TEST_RUNNING_SANDBOX_TOKEN';
const folder = temporaryFolder();
let server: RealServer;
let sandbox: StartedProgram;
let proxy: ChaosProxy;

beforeAll(async () => {
  const model = await servable(starter, join(folder, 'served'));
  server = await startVllm(vllmProgram(folder), model, { log: join(folder, 'vllm.log') });
  process.env[tokenEnv] = 'token-of-a-slow-sandbox';
  // As many as episodes: what is measured is the wait for a tool, not for a place to run it.
  const flags = `sandbox serve --port 0 --workers ${episodes} --token-env ${tokenEnv}`.split(' ');
  sandbox = startProgram('agent-rl', flags, folder, { timeoutMs: 3_600_000 });
  const target = await sandbox.wrote(/http:\/\/[\d.]+:\d+/);
  proxy = await startChaosProxy({ target, delayMs: 500, faultOf: () => 'delay' });
  await server.ready;
});
afterAll(async () => {
  await proxy.close();
  sandbox.kill();
  await server.kill();
  delete process.env[tokenEnv];
});

/** Requests that run and that wait, as vLLM counts them. */
async function load(): Promise<{ running: number; waiting: number }> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const of = (name: string): number =>
    Number(new RegExp(`^vllm:num_requests_${name}\\{.*\\} ([\\d.]+)$`, 'm').exec(text)?.[1]);
  return { running: of('running'), waiting: of('waiting') };
}

test('vLLM has at least half of its slots in use in 90 % of the samples', async () => {
  const over = new AbortController();
  const prepared = await prepareRun({
    file: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    overrides: [
      'generator.type=vllm',
      `generator.urls=[${server.url}]`,
      `rollout.workers=${episodes}`,
      'eval.maxTasks=200',
      'eval.samples=4',
      'eval.temperature=1',
      'sandbox.type=remote',
      `sandbox.url=[${proxy.url}]`,
      `sandbox.tokenEnv=${tokenEnv}`,
      `sandbox.workers=${episodes}`,
    ],
  });
  const { signal } = new AbortController();
  const evaluation = jobs
    .evaluate({ ...prepared, signal, print: () => undefined })
    .finally(() => over.abort());
  const looks: number[] = [];
  while (!over.signal.aborted) {
    const { running, waiting } = await load();
    // From the first request on: before it the run is prepared.
    if (looks.length > 0 || running + waiting > 0) looks.push(running);
    await sleep(250);
  }
  await evaluation;
  // What follows the last request is not waited for.
  while (looks.at(-1) === 0) looks.pop();
  const share = looks.filter((running) => running >= atOnce / 2).length / looks.length;
  process.stderr.write(
    `${(100 * share).toFixed(1)} % of ${looks.length} looks; ${proxy.counts.delay} delays\n`,
  );
  expect(looks.length).toBeGreaterThan(100);
  expect(share).toBeGreaterThanOrEqual(0.9);
});
