import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { batchOf } from '#agent_rl/core/services/batch.ts';
import type { Generator } from '#agent_rl/core/services/generator.ts';
import type { Learner } from '#agent_rl/core/services/learner.ts';
import { scorerOf } from '#agent_rl/core/services/scorer.ts';
import { WeightBus } from '#agent_rl/core/services/weight-bus.ts';
import { adapterTargets } from '#model/adapters/adapter.ts';
import type { NewAdapter } from '#model/weights/open-model.ts';
import { closedAfterAll } from '../support/closed-after-each.ts';
import type { RealServer } from '../support/real-server.ts';
import { gapOf, localEngine } from '../support/sampled-gaps.ts';
import { expectSoundMetrics, smokeTraining } from '../support/smoke-training.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { request } from '../support/generation-request.ts';
import { openedVllm, starter } from '../support/vllm/opened-vllm.ts';
import { servable, startVllm, vllmProgram } from '../support/vllm/real-vllm.ts';
import { askVllm, breaking, capturedVllm, comparable } from '../support/vllm/vllm-exchanges.ts';

// vLLM as its makers publish it, on a CPU: two servers, one for whole models and one for adapters. AGENT_RL_VLLM_PYTHON names a
// Python that has it; otherwise it is installed. A server takes minutes to start and 2 to 4 GB.

const folder = temporaryFolder();
const servers: RealServer[] = [];
let urls: readonly string[] = [];
const patient = { deadlineS: 1200, tolerance: 1e-4 };

beforeAll(async () => {
  const model = await servable(starter, join(folder, 'served'));
  const program = vllmProgram(folder);
  const adapters = ['--enable-lora', '--max-lora-rank', '16', '--max-loras', '2'];
  for (const more of [[], adapters]) {
    const log = join(folder, `vllm-${servers.length}.log`);
    const server = await startVllm(program, model, { log, more });
    servers.push(server);
    await server.ready;
  }
  urls = servers.map(({ url }) => url);
});
afterAll(async () => {
  for (const server of servers) await server.kill();
});

const closing = closedAfterAll();
const opened = <One extends { close(): Promise<void> }>(one: One): One => {
  closing.push(one);
  return one;
};

async function learnerOf(newAdapter?: NewAdapter): Promise<Learner> {
  const training = { longestTokens: 256, loss: { name: 'cross_entropy' } } as const;
  const engine = await localEngine(starter, { ...(newAdapter && { newAdapter }), training });
  return opened(engine).learner;
}

/** Draws at least this many tokens and holds each against the learner: the largest difference, in nats. */
async function largestGap(generator: Generator, learner: Learner, positions: number) {
  const maxTokens = 50;
  const length = Math.ceil(positions / maxTokens);
  const prompts = Array.from({ length }, (_, i) => [1, 300 + i, 301]);
  const asked = { prompts, maxTokens, seed: 7 };
  const { tokens, largest } = await gapOf(generator, scorerOf(learner), asked);
  expect(tokens).toBeGreaterThanOrEqual(positions);
  return largest;
}

/** Publishes updates to a generator; after each, by its number, the positions drawn match the learner. */
async function expectParity(
  generator: Generator,
  learner: Learner,
  name: string,
  positions: readonly (readonly [update: number, positions: number])[],
): Promise<void> {
  const at = join(folder, name);
  const bus = await WeightBus.connect({ learner, generators: [opened(generator)], folder: at });
  const gaps: number[] = [];
  for (const [update, count] of positions) {
    if (update > 0) await step(learner, update - 1);
    await bus.publish();
    gaps.push(await largestGap(generator, learner, count));
  }
  process.stderr.write(`largest differences of ${name}, in nats: ${gaps.join(' ')}\n`);
  for (const gap of gaps) expect(gap).toBeLessThan(1e-4);
  await bus.close();
}

/** One step that moves the weights far enough to be seen. */
async function step(learner: Learner, index: number): Promise<void> {
  const tokens = Int32Array.from({ length: 24 }, (_, i) => (17 * index + 5 * i + 3) % 1024);
  const weights = Float32Array.from(tokens, (_, i) => (i === 0 ? 0 : 1 / 23));
  const zeros = new Float32Array(tokens.length);
  const batch = batchOf([{ tokens, weights, advantages: zeros, oldLogProbs: zeros }]);
  await learner.forwardBackward(batch, { name: 'cross_entropy' });
  const adam = { beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, maxGradNorm: 1 };
  await learner.optimStep({ learningRate: 1e-3, ...adam });
}

test('vLLM answers like the double of the other tests', async () => {
  const real = capturedVllm().exchanges.filter(({ name }) => name !== breaking);
  expect(comparable(await askVllm(urls[0]!))).toEqual(comparable(real));
});

describe('Whole models', () => {
  test('the log-probabilities match the learner at 1,000 positions, before and after ten updates', async () => {
    const learner = await learnerOf();
    const { generator } = await openedVllm([urls[0]!], patient, { maxContextTokens: 256 });
    const between = Array.from({ length: 9 }, (_, i) => [i + 1, 50] as const);
    await expectParity(generator, learner, 'weights', [[0, 1000], ...between, [10, 1000]]);
  });

  test('a short training keeps parity with the learner', async () => {
    const ended = await smokeTraining(folder, {
      'train.iterations': 3,
      'generator.type': 'vllm',
      'generator.urls': [urls[0]!],
      'generator.deadlineS': 1200,
    });
    const run = String(ended['run']);
    expect(expectSoundMetrics(run, 3)).toBe(3);
    expect(readFileSync(join(run, 'run.log'), 'utf8')).toContain('is not reproducible');
  });
});

test('adapters are loaded under new names and score as the learner reports', async () => {
  const targets = adapterTargets(['q_proj', 'v_proj', 'down_proj']);
  const shape = { rank: 4, alpha: 8, dropout: 0, rankStabilised: false };
  const learner = await learnerOf({ ...shape, targets, seed: 1 });
  const host = { maxContextTokens: 256, newAdapter: true };
  const { generator } = await openedVllm([urls[1]!], patient, host);
  const updates = [1, 2, 3].map((update) => [update, 100] as const);
  await expectParity(generator, learner, 'adapters', updates);
});

test('every episode continues on the other server when one of two is killed', async () => {
  const learner = await learnerOf();
  const host = { trains: false, scorer: scorerOf(learner), maxContextTokens: 256 };
  const settings = { ...patient, compareInEvaluation: false };
  const { generator, warnings } = await openedVllm(urls, settings, host);
  opened(generator);
  let turns = 0;
  const episode = async (sample: number): Promise<number> => {
    const tokens = [1, 300 + sample];
    for (let turn = 0; turn < 4; turn++) {
      const key = { seed: 1, taskId: 'killed', sample, turn };
      const asked = request(`killed ${sample}`, { tokens, maxTokens: 20, key });
      const { tokens: drawn, stop } = await generator.generate(asked);
      expect(stop).toBe('max-tokens');
      tokens.push(...drawn);
      turns += 1;
      if (turns === 16) await servers[1]!.kill();
    }
    return tokens.length;
  };
  const lengths = await Promise.all(Array.from({ length: 12 }, (_, sample) => episode(sample)));
  expect(lengths).toEqual(lengths.map(() => 82));
  expect(warnings.join('\n')).toMatch(/is out of use: .*Its episodes continue on the other server/);
});
