import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { readJson } from '../support/acme-project.ts';
import { type ChaosProxy, faultOfOneIn, faults, startChaosProxy } from '../support/chaos-proxy.ts';
import type { RealServer } from '../support/real-server.ts';
import { expectSoundMetrics, smokeTraining } from '../support/smoke-training.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { starter } from '../support/vllm/opened-vllm.ts';
import { servable, startVllm, vllmProgram } from '../support/vllm/real-vllm.ts';

// vLLM behind a proxy that harms one request in five, and killed in the middle of a collection; another takes its place. See
// `tests/real/vllm.test.ts` for the environment.

const folder = temporaryFolder();
const model = join(folder, 'served');
const servers: RealServer[] = [];
let program = '';
let proxy: ChaosProxy;

async function start(): Promise<RealServer> {
  const server = await startVllm(program, model, { log: join(folder, 'vllm.log') });
  servers.push(server);
  await server.ready;
  return server;
}

let harmful = false;

/** One request for tokens in five; what else is asked, such as loading weights, one in ten. */
const faultOf = ({ number, path }: { number: number; path: string }) =>
  harmful ? faultOfOneIn(path.endsWith('/generate') ? 5 : 10, number) : 'none';

beforeAll(async () => {
  await servable(starter, model);
  program = vllmProgram(folder);
  proxy = await startChaosProxy({ target: (await start()).url, faultOf, delayMs: 2000 });
});
afterAll(async () => {
  await proxy.close();
  for (const server of servers) await server.kill();
});

test('the run completes, accounts for every token, and a replay has the same weights', async () => {
  const training = smokeTraining(folder, {
    'run.name': 'harmed',
    'train.iterations': 6,
    'rollout.failures.retries': 3,
    'generator.type': 'vllm',
    'generator.urls': [proxy.url],
    'generator.deadlineS': 300,
    'generator.patienceS': 1200,
  });
  let episodes = 0;
  let restarted: Promise<void> | undefined;
  for await (const event of training) {
    if (event.type !== 'rollout') continue;
    episodes += 1;
    harmful = true;
    // In the third collection of eight.
    if (episodes !== 19 || restarted !== undefined) continue;
    await servers[0]!.kill();
    restarted = start().then(({ url }) => proxy.aim(url));
  }
  const ended = await training;
  harmful = false;
  await restarted;
  const run = String(ended['run']);
  for (const fault of faults) expect(proxy.counts[fault]).toBeGreaterThan(0);
  expect(expectSoundMetrics(run, 6)).toBe(6);
  const replayed = await smokeTraining(folder, {
    'run.name': 'replayed',
    'train.iterations': 6,
    'generator.type': 'replay',
    'generator.run': run,
  });
  const weightsOf = (folderOfRun: string) => readJson(folderOfRun, 'summary.json')['weightsSha256'];
  expect(weightsOf(String(replayed['run']))).toBe(weightsOf(run));
  process.stderr.write(`what was done to requests: ${JSON.stringify(proxy.counts)}\n`);
});
