import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { requestSeed } from '#agent_rl/generation/request-seed.ts';
import { readJson, readLines } from '../support/acme-project.ts';
import { sets, startProgram, succeeded } from '../support/built-program.ts';
import { type ChaosProxy, startChaosProxy } from '../support/chaos-proxy.ts';
import { eventsOf } from '../support/journal.ts';
import { expectSoundMetrics } from '../support/smoke-training.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startSkyrl } from '../support/tinker/skyrl-server.ts';
import { starter } from '../support/vllm/opened-vllm.ts';
import { servable, startVllm, vllmProgram } from '../support/vllm/real-vllm.ts';

// Collections that overlap updates, and a run that is killed while servers sample for it. See `vllm.test.ts` and `tinker.test.ts`
// for the environment. AGENT_RL_ITERATIONS says how long each run is.

const iterations = Number(process.env['AGENT_RL_ITERATIONS'] ?? 12);
const folder = temporaryFolder();

interface Server {
  url: string;
  kill(): Promise<void>;
}

const vllmSettings = (url: string) => [
  'generator.type=vllm',
  `generator.urls=[${url}]`,
  'generator.deadlineS=1200',
  'model.lora.rank=8',
];

async function vllm(): Promise<Server> {
  const model = await servable(starter, join(folder, 'served'));
  const more = ['--enable-lora', '--max-lora-rank', '16', '--max-loras', '2'];
  const server = await startVllm(vllmProgram(folder), model, { log: join(folder, 'log'), more });
  await server.ready;
  return server;
}

const skyrlSettings = (url: string) => [
  `model.path=${join(folder, 'starter')}`,
  'model.lora.rank=8',
  'model.lora.alpha=32',
  'train.maxGradNorm=0',
  ...['learner', 'generator'].flatMap((block) => [
    `${block}.type=tinker`,
    `${block}.url=${url}`,
    `${block}.patienceS=900`,
  ]),
];

function skyrl(): Promise<Server> {
  cpSync(starter, join(folder, 'starter'), { recursive: true });
  return startSkyrl(join(folder, 'starter'), join(folder, 'skyrl'));
}

/** Seeds of the tokens by which servers are compared with the learner, which are in no journal. */
const compared = new Set(
  Array.from({ length: 8 }, (_, sample) =>
    requestSeed({ seed: 0, taskId: 'fixed prompt', sample, turn: 0 }),
  ),
);

describe.each([
  { name: 'vLLM', start: vllm, settings: vllmSettings, sampling: /generate$/ },
  { name: 'SkyRL', start: skyrl, settings: skyrlSettings, sampling: /asample$/ },
])('$name', ({ name, start, settings, sampling }) => {
  let server: Server;
  let proxy: ChaosProxy;
  /** Seeds of the tokens that were asked for. */
  let asked: number[] = [];

  beforeAll(async () => {
    server = await start();
    proxy = await startChaosProxy({
      target: server.url,
      faultOf: ({ path, bytes }) => {
        const seed = Number(/"seed": ?(?<seed>\d+)/.exec(bytes.toString())?.groups?.['seed']);
        if (sampling.test(path) && !compared.has(seed)) asked.push(seed);
        return 'none';
      },
    });
  });
  afterAll(async () => {
    await proxy.close();
    await server.kill();
  });
  afterEach(() => {
    asked = [];
  });

  const started = (run: string, lag: number) => {
    const workplace = join(folder, name);
    mkdirSync(workplace, { recursive: true });
    const flags = ['train', '--config', join(packageRoot(), 'configs', 'code_exec_smoke.yaml')];
    const own = [
      ...settings(proxy.url),
      `train.iterations=${iterations}`,
      `async.lag=${lag}`,
      'run.engineThreads=1',
      'rollout.workers=16',
      'eval.before=false',
      'eval.maxTasks=24',
      `run.outputDir=${workplace}`,
      `run.name=${run}`,
    ];
    const program = startProgram('agent-rl', [...flags, '--quiet', ...sets(...own)], workplace, {
      timeoutMs: 3_600_000,
    });
    return { program, at: join(workplace, run), workplace };
  };

  test('a run with lag 1 learns from older weights by one update, and agrees with the learner', async () => {
    for (const lag of [0, 1]) {
      const { program, at } = started(`lag-${lag}`, lag);
      succeeded(await program.ended);
      expectSoundMetrics(at, iterations);
      const metrics = readLines(at, 'metrics.jsonl');
      const staleness = metrics.map((line) => Number(line['rollout/staleness'] ?? 0));
      expect(Math.max(...staleness)).toBe(lag);
      const { wallSeconds, eval: evaluation } = readJson(join(at, 'summary.json')) as {
        wallSeconds: number;
        eval: { after: { successes: number; n: number } };
      };
      const { successes, n } = evaluation.after;
      process.stderr.write(
        `${name}, lag ${lag}: ${wallSeconds.toFixed(1)} s, ${successes} of ${n} solved\n`,
      );
    }
  });

  test.each([0, 1])(
    'a run with lag %i that is killed asks for no token that it has recorded',
    async (lag) => {
      const { program, at, workplace } = started(`killed-${lag}`, lag);
      while (!existsSync(join(at, 'metrics.jsonl')) || readLines(at, 'metrics.jsonl').length < 3)
        await sleep(100);
      // In the middle of a collection.
      const { length: before } = asked;
      while (asked.length < before + 5) await sleep(5);
      program.kill();
      await program.ended;
      const first = new Set(asked.splice(0));
      const events = await eventsOf(at);
      const recorded = events.filter(({ type }) => type === 'generation').length;
      const flags = ['train', '--resume', at, '--quiet'];
      succeeded(await startProgram('agent-rl', flags, workplace, { timeoutMs: 3_600_000 }).ended);
      const again = new Set(asked.filter((seed) => first.has(seed)));
      process.stderr.write(
        `${name}, lag ${lag}: ${first.size} asked for before the kill, ${recorded} recorded, ${again.size} asked for again\n`,
      );
      expect(recorded).toBeGreaterThan(10);
      expect(again.size).toBe(first.size - recorded);
      expect(readLines(at, 'metrics.jsonl')).toHaveLength(iterations);
    },
  );
});
