import { cpSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { readAdapterWeights } from '#model/adapters/adapter-files.ts';
import { describeModel } from '#model/weights/open-model.ts';
import { type ChaosProxy, faultOfOneIn, faults, startChaosProxy } from '../support/chaos-proxy.ts';
import { episodesIn } from '../support/journal.ts';
import { expectSoundMetrics, smokeTraining } from '../support/smoke-training.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type SkyrlServer, startSkyrl } from '../support/tinker/skyrl-server.ts';
import { largestGap, lora, starter } from '../support/tinker/tried-learner.ts';

// SkyRL behind a proxy that harms one request in twelve, and killed between a gradient and its step. See `tinker.test.ts` for the
// environment. AGENT_RL_ITERATIONS says how long it goes on.

const iterations = Number(process.env['AGENT_RL_ITERATIONS'] ?? 20);
const folder = temporaryFolder();
const model = join(folder, 'starter');
let server: SkyrlServer;
let proxy: ChaosProxy;
let harmful = false;
let steps = 0;
let restarted: Promise<void> | undefined;

/** One request in twelve. The third step is not heard of by the server, which is killed instead. */
function faultOf({ number, path }: { number: number; path: string }) {
  if (!harmful) return 'none';
  if (path.endsWith('/optim_step')) {
    steps += 1;
    if (steps === 3) {
      restarted = server.kill().then(() => server.start());
      return 'refuse';
    }
  }
  return faultOfOneIn(12, number);
}

beforeAll(async () => {
  cpSync(starter, model, { recursive: true });
  server = await startSkyrl(model, join(folder, 'skyrl'));
  proxy = await startChaosProxy({ target: server.url, faultOf, delayMs: 2000 });
});
afterAll(async () => {
  await proxy.close();
  await server.kill();
});

const adapter = { rank: 8, alpha: 32 };
const training = (name: string, url: string) =>
  smokeTraining(folder, {
    'run.name': name,
    'model.path': model,
    'model.lora': adapter,
    'learner.type': 'tinker',
    'learner.url': url,
    'learner.patienceS': 900,
    'train.iterations': iterations,
    'train.maxGradNorm': 0,
  });

async function adapterOf(run: string): Promise<readonly Float32Array[]> {
  const newAdapter = { ...lora, ...adapter, seed: 1 };
  const { config } = await describeModel({ folder: model, newAdapter });
  const checkpoint = join(run, 'checkpoints', `step-${iterations}`);
  const weights = await readAdapterWeights(checkpoint, config, config.adapters![0]!);
  return [...weights.keys()].toSorted().map((key) => weights.get(key)!);
}

test('the run completes, accounts for every token, and an undisturbed replay has the same weights', async () => {
  const started = performance.now();
  const underWay = training('harmed', proxy.url);
  for await (const { type } of underWay) if (type === 'rollout') harmful = true;
  const harmed = String((await underWay)['run']);
  harmful = false;
  await restarted;
  const seconds = (performance.now() - started) / 1000;
  process.stderr.write(
    `${seconds.toFixed(0)} s; what was done to requests: ${JSON.stringify(proxy.counts)}\n`,
  );
  expect(restarted).toBeDefined();
  for (const fault of faults) expect(proxy.counts[fault]).toBeGreaterThan(0);
  expect(expectSoundMetrics(harmed, iterations)).toBeGreaterThan(iterations / 2);
  const calm = String((await training('calm', server.url))['run']);
  // The engine of this process drew both, from adapters that may differ by rounding.
  const tokensOf = async (run: string) =>
    (await episodesIn(run, 'train')).map(({ sequences }) => sequences.map(({ tokens }) => tokens));
  expect(await tokensOf(calm)).toEqual(await tokensOf(harmed));
  const [one, other] = [await adapterOf(harmed), await adapterOf(calm)];
  const gap = largestGap(one, other);
  process.stderr.write(`weights of the undisturbed run are ${gap.toExponential(1)} apart\n`);
  expect(gap).toBeLessThan(1e-5);
});
