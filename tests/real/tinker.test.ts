import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { batchOf } from '#agent_rl/core/services/batch.ts';
import { greedy } from '#agent_rl/core/services/generator.ts';
import type { LearnerHost } from '#agent_rl/core/plugins/model/learner.ts';
import type { Learner, LossSpec } from '#agent_rl/core/services/learner.ts';
import { openEngine } from '#agent_rl/engine/open-engine.ts';
import { tinkerGenerator } from '#agent_rl/generation/tinker/tinker-generator.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import { trainedSpecs } from '#model/adapters/adapter.ts';
import { readAdapterWeights } from '#model/adapters/adapter-files.ts';
import { describeModel, openModel } from '#model/weights/open-model.ts';
import { describeGeneratorContract } from '../contracts/generator-contract.ts';
import { describeLearnerContract } from '../contracts/learner-contract.ts';
import { readJson } from '../support/acme-project.ts';
import { type ChaosProxy, type Fault, startChaosProxy } from '../support/chaos-proxy.ts';
import { request } from '../support/generation-request.ts';
import { closedAfterEach } from '../support/closed-after-each.ts';
import type { Answered, Asked } from '../support/loopback-service.ts';
import { expectSoundMetrics, smokeTraining } from '../support/smoke-training.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Exchange, kept, type Recording } from '../support/tinker/exchanges.ts';
import { type SkyrlServer, skyrlVersion, startSkyrl } from '../support/tinker/skyrl-server.ts';
import {
  clippedLoss,
  datum,
  largestGap,
  logProbsOf,
  lora,
  openTinker,
  smallStep,
  starter,
  takeTwoSteps,
  twoSequences,
} from '../support/tinker/tried-learner.ts';
import { recording } from '../support/tinker/recording.ts';
import { TiedSteps } from '../support/tinker/tied-steps.ts';
import { adapterHost } from '../support/tinker/tried-generator.ts';

// SkyRL's Tinker server, see tests/support/tinker/skyrl-server.ts. AGENT_RL_RECORD=1 writes the captured exchanges anew that
// the other tests replay.

const folder = temporaryFolder();
const model = join(folder, 'starter');
const fixture = join(packageRoot(), 'tests', 'fixtures', 'tinker', 'skyrl.json');
const fixed = { reduction: 'sequence-mean', patienceS: 900 } as const;
let server: SkyrlServer;
let proxy: ChaosProxy;
let exchanges: Exchange[];
let faultOf: (path: string) => Fault;

beforeAll(async () => {
  cpSync(starter, model, { recursive: true });
  server = await startSkyrl(model, join(folder, 'skyrl'));
});
afterAll(() => server.kill());
const opened = closedAfterEach();

/** Comes by the clock. */
const isHeartbeat = ({ path }: Asked) => path.endsWith('session_heartbeat');

const recorded = ({ status, type = '', location, body }: Answered) => ({
  status,
  type,
  ...(location !== undefined && { location }),
  ...kept(body, type),
});

/** A server in between breaks connections and keeps what was said. */
beforeEach(async () => {
  exchanges = [];
  faultOf = () => 'none';
  proxy = await startChaosProxy({
    target: server.url,
    faultOf: (asked) => (isHeartbeat(asked) ? 'none' : faultOf(asked.path)),
    heard: (asked, answer) => {
      const { method, path, bytes, headers } = asked;
      const said = kept(bytes, headers['content-type']);
      if (!isHeartbeat(asked))
        exchanges.push({ method, path, ...said, answer: answer ? recorded(answer) : 'cut' });
    },
  });
  opened.push(proxy);
});

async function open(settings: object = fixed, host: Partial<LearnerHost> = {}): Promise<Learner> {
  const learner = await openTinker(proxy.url, { settings, host });
  opened.push(learner);
  return learner;
}

/** Before what was said is kept. */
const closed = (): Promise<void> => opened.pop()!.close();

/** The adapter that a learner has, tensor by tensor. */
async function adapterOf(learner: Learner, name: string): Promise<readonly Float32Array[]> {
  const location = join(folder, name);
  await learner.exportWeights({ kind: 'folder', folder: location });
  const { config } = await describeModel({ folder: model, newAdapter: { ...lora, seed: 1 } });
  const weights = await readAdapterWeights(location, config, config.adapters![0]!);
  return [...weights.keys()].toSorted().map((key) => weights.get(key)!);
}

/** Breaks one request: the n-th to a path, forward passes not counted. */
function breaking(path: string, nth: number, fault: Fault): () => number {
  let seen = 0;
  faultOf = (asked) => {
    if (!asked.endsWith(`/${path}`)) return 'none';
    seen += 1;
    return seen === nth ? fault : 'none';
  };
  return () => seen;
}

const faults = [
  ['a gradient whose answer is lost', 'forward_backward', 2, 'lose'],
  ['a gradient that never arrives', 'forward_backward', 2, 'refuse'],
  ['a step whose answer is lost', 'optim_step', 2, 'lose'],
  ['a step whose answer is torn', 'optim_step', 1, 'cut'],
] as const;

describeLearnerContract('the learner of a Tinker service', {
  open: () => openTinker(server.url, { settings: fixed }),
  vocabSize: 1024,
  maxGradNorm: Infinity,
  timeoutS: 3600,
});

describeGeneratorContract('the generator of a Tinker service', {
  open: () => tinkerGenerator({ url: server.url, deadlineS: 3600, patienceS: 60 }, adapterHost()),
  vocabSize: 1024,
  timeoutS: 3600,
});

describe('The captured exchanges', () => {
  const scenarios: Recording['scenarios'] = {};
  const captured = (name: string, logProbs: readonly Float32Array[]): void => {
    scenarios[name] = { exchanges, logProbs: logProbs.map((row) => Array.from(row)) };
  };

  test('two steps, a checkpoint and a restore are replayed', async () => {
    const learner = await open({ patienceS: 60 });
    const logProbs = await takeTwoSteps(learner);
    const saved = join(folder, 'state');
    mkdirSync(saved);
    await learner.saveState(saved);
    await learner.loadState(saved);
    expect(largestGap(await logProbsOf(learner), logProbs)).toBe(0);
    await closed();
    captured('two steps', logProbs);
  });

  test.each(faults)('a run survives the fault: %s', async (name, path, nth, fault) => {
    const learner = await open();
    breaking(path, nth, fault);
    const logProbs = await takeTwoSteps(learner);
    await closed();
    captured(name, logProbs);
    expect(largestGap(logProbs, scenarios['two steps']!.logProbs)).toBeLessThan(1e-5);
  });

  test('discarded gradients are replayed', async () => {
    const learner = await open();
    await learner.forwardBackward(batchOf([datum(21, 17, 3)]), clippedLoss);
    await learner.discardGradients();
    const logProbs = await takeTwoSteps(learner);
    await closed();
    captured('gradients that are discarded', logProbs);
    expect(largestGap(logProbs, scenarios['two steps']!.logProbs)).toBeLessThan(1e-5);
  });

  test("tokens from the model and from the learner's weights are replayed", async () => {
    const learner = await open();
    await learner.forwardBackward(batchOf(twoSequences), clippedLoss);
    await learner.optimStep({ ...smallStep, learningRate: 0.05 });
    const weights = await learner.exportWeights({ kind: 'service' });
    exchanges.splice(0);
    const settings = { url: proxy.url, deadlineS: 3600, patienceS: 60 };
    const generator = await tinkerGenerator(settings, adapterHost());
    const prompt = { tokens: [1, 300, 301], stopTokens: [2] };
    const before = await generator.generate(request('a', prompt));
    await generator.use(weights);
    const after = await generator.generate(request('a', { ...prompt, sampling: greedy }));
    expect([before.version, after.version]).toEqual([0, 1]);
    const tokens = [Int32Array.from([...prompt.tokens, ...after.tokens])];
    const [scored] = await learner.forward(tokens, { temperature: 1, which: 'policy' });
    expect(largestGap([after.logProbs], [scored!.subarray(3)])).toBeLessThan(1e-4);
    await generator.close();
    const logProbs = [before, after].map((one) => Float32Array.from(one.logProbs));
    captured('tokens', logProbs);
  });

  test('the server answers what was captured', () => {
    const said: Recording = { server: skyrlVersion, scenarios };
    const text = JSON.stringify(said).replaceAll(model, '/models/starter');
    if (process.env['AGENT_RL_RECORD'] === '1') writeFileSync(fixture, `${text}\n`);
    const stored = recording();
    const outline = (all: readonly Exchange[]) =>
      all
        .map(({ method, path, answer }) => [
          method,
          path.replaceAll(/model_[0-9a-f]+/g, 'MODEL'),
          answer === 'cut' ? answer : answer.status,
        ])
        // No caller waits for the ones, so that they come at any time; how often it is busy is chance.
        .filter(([method, , status]) => method !== 'DELETE' && status !== 408);
    expect(stored.server).toBe(skyrlVersion);
    expect(Object.keys(stored.scenarios)).toEqual(Object.keys(scenarios));
    for (const [name, one] of Object.entries(scenarios))
      expect(outline(one.exchanges)).toEqual(outline(stored.scenarios[name]!.exchanges));
  });
});

test('an answer that is lost while the learner opens is requested again', async () => {
  const seen = breaking('optim_step', 1, 'lose');
  const learner = await open();
  expect(seen()).toBeGreaterThan(1);
  expect(await logProbsOf(learner)).toHaveLength(2);
});

test('four steps, one with each loss, change the weights as steps of our own engine do', async () => {
  const learner = await open();
  const begun = join(folder, 'begun');
  await learner.exportWeights({ kind: 'folder', folder: begun });
  const { config, parameters } = await openModel({ folder: model, adapters: [begun] });
  const engine = await openEngine({ device: 'cpu', threads: 1 });
  opened.push(engine);
  const adapter = { baseModel: model, seed: 1 };
  const ours = new LocalLearner(engine, config, parameters, { microBatchTokens: 512, adapter });
  const trained = new Map(
    trainedSpecs(config).map(({ name }) => [name, parameters.get(name) as Float32Array]),
  );
  const start = new Map([...trained].map(([name, values]) => [name, values.slice()]));
  const steps = new TiedSteps(ours, trained);
  const data = [...twoSequences, datum(40, 7, 0.7), datum(33, 11, -1.1), datum(25, 13, 1.3)];
  const settings = { clipLow: 0.1, clipHigh: 0.1 };
  const losses: LossSpec[] = [
    { ...clippedLoss, settings },
    { ...clippedLoss, type: 'cispo', settings },
    { ...clippedLoss, type: 'reinforce', settings: {} },
    { name: 'cross_entropy' },
  ];
  // What was drawn from: near enough that some ratios are within the bounds, and others not.
  const sequences = data.map(({ tokens }) => tokens);
  const drawn = await ours.forward(sequences, { temperature: 1, which: 'policy' });
  const batch = batchOf(
    data.map(({ tokens, weights, advantages }, i) => {
      const oldLogProbs = drawn[i]!.map((value, place) => value + 0.1 * ((place % 5) - 2));
      return { tokens, weights, advantages, oldLogProbs };
    }),
  );
  for (const loss of losses) {
    const there = await learner.forwardBackward(batch, loss);
    const here = await ours.forwardBackward(batch, loss);
    expect(largestGap(there.logProbs, here.logProbs)).toBeLessThan(1e-4);
    expect(Math.abs(there.loss / here.loss - 1)).toBeLessThan(1e-5);
    for (const [name, value] of Object.entries(there.sums))
      expect(Math.abs(value - here.sums[name]!)).toBeLessThan(1e-4 * Math.abs(value) + 1e-5);
    const [step, own] = [await learner.optimStep(smallStep), await steps.step(smallStep)];
    expect(Math.abs(step.gradNorm! / own.gradNorm - 1)).toBeLessThan(1e-5);
  }
  const after = await adapterOf(learner, 'after');
  const rowsOf = (weights: ReadonlyMap<string, Float32Array>) =>
    [...weights.keys()].toSorted().map((name) => weights.get(name)!);
  expect(largestGap(after, rowsOf(start))).toBeGreaterThan(3e-3);
  expect(largestGap(after, rowsOf(trained))).toBeLessThan(1e-5);
});

test('a server that is restarted between gradient and step loses no work', async () => {
  const undisturbed = await open();
  const expected = await takeTwoSteps(undisturbed);
  const weights = await adapterOf(undisturbed, 'undisturbed');
  await closed();
  const warnings: string[] = [];
  const learner = await open(fixed, { warn: (text) => warnings.push(text) });
  let restarted: Promise<void> | undefined;
  faultOf = (path) => {
    if (!path.endsWith('/optim_step') || restarted !== undefined) return 'none';
    restarted = server.kill().then(() => server.start());
    return 'refuse';
  };
  const logProbs = await takeTwoSteps(learner);
  await restarted;
  expect(largestGap(logProbs, expected)).toBeLessThan(1e-5);
  expect(largestGap(await adapterOf(learner, 'killed'), weights)).toBeLessThan(1e-5);
  expect(warnings.join('\n')).toMatch(/reloads the state of step 0/);
});

test.each([
  ['lets our engine sample what the service has learned', () => ({})],
  [
    'lets the service sample what it has learned',
    () => ({ 'generator.type': 'tinker', 'generator.url': server.url }),
  ],
])('a short training %s', async (_, more) => {
  const ended = await smokeTraining(folder, {
    'model.path': model,
    'model.lora': { rank: 8, alpha: 32 },
    'learner.type': 'tinker',
    'learner.url': server.url,
    'train.iterations': 2,
    'train.maxGradNorm': 0,
    ...more(),
  });
  const run = String(ended['run']);
  expect(expectSoundMetrics(run, 2)).toBe(2);
  const checkpoint = join(run, 'checkpoints', 'step-2');
  expect(existsSync(join(checkpoint, 'adapter_model.safetensors'))).toBe(true);
  expect(readJson(checkpoint, 'tinker.json')).toMatchObject({ steps: 2, url: server.url });
});
