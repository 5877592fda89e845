import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { readJson, readLines } from '#tests/support/acme-project.ts';
import {
  type ChaosProxy,
  type Fault,
  faultOfOneIn,
  faults,
  startChaosProxy,
} from '#tests/support/chaos-proxy.ts';
import type { RealServer } from '#tests/support/real-server.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { starter } from '#tests/support/vllm/opened-vllm.ts';
import { servable, startVllm, vllmProgram } from '#tests/support/vllm/real-vllm.ts';

/*
 * vLLM behind a proxy that harms one request in five, and killed in the middle of a collection; another takes its place. See
 * `tests/real/vllm.test.ts` for the environment.
 */

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
function faultOf({ number, path }: { number: number; path: string }): Fault {
  return harmful ? faultOfOneIn(path.endsWith('/generate') ? 5 : 10, number) : 'none';
}

beforeAll(async () => {
  await servable(starter, model);
  program = vllmProgram(folder);
  proxy = await startChaosProxy({ target: (await start()).url, faultOf, delayMs: 2000 });
});
afterAll(async () => {
  await proxy.close();
  for (const server of servers) await server.kill();
});

const overrides = {
  'run.engineThreads': 1,
  'run.outputDir': join(folder, 'runs'),
  'eval.before': false,
  'eval.after': false,
  'train.iterations': 6,
};

test('the run completes, accounts for every token, and a replay has the same weights', async () => {
  const training = trainAgent({
    config: 'configs/code_exec_smoke.yaml',
    overrides: {
      ...overrides,
      'run.name': 'harmed',
      'rollout.failures.retries': 3,
      'generator.type': 'vllm',
      'generator.urls': [proxy.url],
      'generator.deadlineS': 300,
      'generator.patienceS': 1200,
    },
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
  const lines = readLines(run, 'metrics.jsonl');
  expect(lines).toHaveLength(6);
  for (const line of lines) {
    const booked = Object.entries(line).filter(([name]) => name.startsWith('ledger/'));
    const sum = booked.reduce((total, [, tokens]) => total + Number(tokens), 0);
    expect(sum).toBe(line['rollout/sampledTokens']);
    expect(Number(line['parity/maxAbsLogProbGap'])).toBeLessThan(1e-4);
  }
  const replayed = await trainAgent({
    config: 'configs/code_exec_smoke.yaml',
    overrides: {
      ...overrides,
      'run.name': 'replayed',
      'generator.type': 'replay',
      'generator.run': run,
    },
  });
  const weightsOf = (folderOfRun: string) => readJson(folderOfRun, 'summary.json')['weightsSha256'];
  expect(weightsOf(String(replayed['run']))).toBe(weightsOf(run));
  process.stderr.write(`what was done to requests: ${JSON.stringify(proxy.counts)}\n`);
});
