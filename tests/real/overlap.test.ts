import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
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

/** The time in which a server is asked for no tokens, between the first request for some and the last. */
class IdleTime {
  readonly #open = new Set<unknown>();
  #first: number | undefined;
  #since = 0;
  #idleMs = 0;

  begin(id: unknown): void {
    const now = performance.now();
    this.#first ??= now;
    if (this.#open.size === 0 && this.#since > 0) this.#idleMs += now - this.#since;
    this.#open.add(id);
  }

  end(id: unknown): void {
    if (this.#open.delete(id)) this.#since = performance.now();
  }

  share(): number {
    return this.#idleMs / (this.#since - (this.#first ?? 0));
  }
}

const requestIdIn = (body: Uint8Array): unknown => {
  const text = Buffer.from(body).toString();
  return text.startsWith('{')
    ? (JSON.parse(text) as { request_id?: unknown }).request_id
    : undefined;
};

const iterationsIn = (run: string): number => {
  const file = join(run, 'metrics.jsonl');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
};

describe.each([
  { name: 'vLLM', start: vllm, settings: vllmSettings, sampling: /generate$/ },
  { name: 'SkyRL', start: skyrl, settings: skyrlSettings, sampling: /asample$/ },
])('$name', ({ name, start, settings, sampling }) => {
  let server: Server;
  let proxy: ChaosProxy;
  /** Seeds of the tokens that were asked for. */
  let asked: number[] = [];
  let idle = new IdleTime();

  beforeAll(async () => {
    server = await start();
    proxy = await startChaosProxy({
      target: server.url,
      faultOf: ({ path, bytes }) => {
        const seed = Number(/"seed": ?(?<seed>\d+)/.exec(bytes.toString())?.groups?.['seed']);
        if (sampling.test(path) && !compared.has(seed)) asked.push(seed);
        const id = requestIdIn(bytes);
        if (sampling.test(path) && id !== undefined) idle.begin(id);
        return 'none';
      },
      heard: ({ path, bytes }, answer) => {
        const id = requestIdIn(bytes);
        // A Tinker service accepts a request, and is asked for its result.
        const isAccepted = path.endsWith('/asample') && answer !== undefined;
        const isResult = /(?:generate|retrieve_future)$/.test(path) && answer?.status !== 408;
        if (isAccepted) idle.begin(requestIdIn(answer.body));
        else if (isResult) idle.end(id);
      },
    });
  });
  afterAll(async () => {
    await proxy.close();
    await server.kill();
  });
  afterEach(() => {
    asked = [];
    idle = new IdleTime();
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
      idle = new IdleTime();
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
        `${name}, lag ${lag}: ${wallSeconds.toFixed(1)} s, idle ${(100 * idle.share()).toFixed(0)} %, ${successes} of ${n} solved\n`,
      );
    }
  });

  test.each([0, 1])(
    'a run with lag %i that is killed asks for no token that it has recorded',
    async (lag) => {
      const { program, at, workplace } = started(`killed-${lag}`, lag);
      while (iterationsIn(at) < 3) await sleep(100);
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
