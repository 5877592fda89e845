import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';

import { batchOf } from '#agent_rl/core/services/batch.ts';
import type { Learner } from '#agent_rl/core/services/learner.ts';
import { tinkerLearner } from '#agent_rl/learner/tinker/open-tinker-learner.ts';
import type { LearnerHost } from '#agent_rl/core/plugins/model/learner.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import type { Answered, Asked, Outcome } from '#tests/support/loopback-service.ts';
import { recording } from '#tests/support/tinker/recording.ts';
import {
  type Changes,
  json,
  type ReplayedService,
  replayedService,
} from '#tests/support/tinker/replayed-service.ts';
import {
  clippedLoss,
  datum,
  largestGap,
  learnerHost,
  learnerSettings,
  logProbsOf,
  lora,
  openTinker,
  smallStep,
  takeTwoSteps,
  twoSequences,
} from '#tests/support/tinker/tried-learner.ts';

const { scenarios } = recording();
const fixed = { reduction: 'sequence-mean', patienceS: 0 } as const;
const folder = temporaryFolder();

let service: ReplayedService;
const open: Learner[] = [];
afterEach(async () => {
  for (const learner of open.splice(0)) await learner.close();
  await service.close();
});

type Given = Changes & { settings?: object; host?: Partial<LearnerHost> };

/** A learner at a service that says what was captured of a scenario. */
async function replayed(
  scenario: string,
  { settings = fixed, host = {}, ...changes }: Given = {},
): Promise<Learner> {
  service = await replayedService(scenarios[scenario]!.exchanges, changes);
  const learner = await openTinker(service.url, { settings, host });
  open.push(learner);
  return learner;
}

type Instead = NonNullable<Changes['instead']>;

/** Once, of the first request to a path. */
function once(path: string, outcome: Outcome | ((captured: Answered) => Outcome)): Instead {
  let left = 1;
  return (asked, captured) => {
    if (!asked.path.endsWith(path) || left-- <= 0) return undefined;
    return typeof outcome === 'function' ? outcome(captured as Answered) : outcome;
  };
}

/** Nothing was asked that a real server was not asked, and it was asked for all of it. */
async function expectWhole(): Promise<void> {
  await open.pop()!.close();
  expect(service.unknown).toEqual([]);
  // Requests to forget run in the background.
  expect(service.left().filter((request) => !request.startsWith('DELETE'))).toEqual([]);
}

/** Two steps give what they gave at a real server. */
async function expectTwoSteps(learner: Learner): Promise<void> {
  const logProbs = await takeTwoSteps(learner);
  expect(largestGap(logProbs, scenarios['two steps']!.logProbs)).toBeLessThan(1e-5);
}

test('two steps and a restored checkpoint send exactly the requests that a real server received', async () => {
  const learner = await replayed('two steps', { settings: { patienceS: 0 } });
  const logProbs = await takeTwoSteps(learner);
  expect(largestGap(logProbs, scenarios['two steps']!.logProbs)).toBe(0);
  const saved = join(folder, 'state');
  mkdirSync(saved);
  const { weightsSha256 } = await learner.saveState(saved);
  expect(weightsSha256).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.parse(readFileSync(join(saved, 'tinker.json'), 'utf8'))).toEqual({
    url: service.url,
    model: '/models/starter',
    state: expect.stringMatching(/^tinker:\/\/model_[0-9a-f]+\/weights\/kept-2-\d+$/),
    steps: 2,
  });
  await learner.loadState(saved);
  expect(largestGap(await logProbsOf(learner), logProbs)).toBe(0);
  await expectWhole();
});

test('fewShapes decides whether sequences of 9 and 17 tokens are padded to four rows of 32', async () => {
  const largestBody = async (fewShapes: boolean): Promise<number> => {
    let largest = 0;
    const instead = (asked: Asked) => void (largest = Math.max(largest, asked.bytes.length));
    const settings = { ...fixed, fewShapes };
    const learner = await replayed('two steps', { settings, instead });
    // Only the filled rows were captured of a real server: others are answered with 400.
    await learner.forwardBackward(batchOf(twoSequences), clippedLoss).catch(() => undefined);
    await open.pop()!.close();
    await service.close();
    return largest;
  };
  expect(await largestBody(false)).toBeLessThan((await largestBody(true)) / 2);
});

test.each([
  ['a gradient whose answer is lost', 1],
  ['a gradient that never arrives', 1],
  ['a step whose answer is lost', 1],
  ['a step whose answer is torn', 0],
])(
  'after %s the learner loads the last state and repeats the step, so that nothing is added twice',
  async (name, step) => {
    const warnings: string[] = [];
    const learner = await replayed(name, { host: { warn: (text) => warnings.push(text) } });
    await expectTwoSteps(learner);
    await expectWhole();
    const restored = `reloads the state of step ${step} `;
    expect(warnings.filter((text) => text.includes(restored))).toHaveLength(1);
  },
);

test('discarded gradients have no effect on the next step', async () => {
  const learner = await replayed('gradients that are discarded');
  await learner.forwardBackward(batchOf([datum(21, 17, 3)]), clippedLoss);
  await learner.discardGradients();
  await expectTwoSteps(learner);
  await expectWhole();
});

test('a step that may have been taken is in no state saved after its restore failed', async () => {
  let isOut = false;
  let isBack = false;
  const orders: { order: string; model: string | undefined; from: string | undefined }[] = [];
  const results: Record<string, object> = {
    create_model: { model_id: 'anew', lora_config: { ...lora, lora_alpha: 32 } },
    save_weights: { path: 'tinker://anew/weights/kept' },
  };
  /** A service that was started anew: what it makes is called so. */
  const anew = ({ path, bytes }: Asked): Outcome => {
    const order = path.replace('/api/v1/', '');
    const asked = JSON.parse(bytes.toString() || '{}') as Record<string, string>;
    if (order === 'retrieve_future')
      return json(200, { ...results[asked['request_id']!], metrics: {} });
    orders.push({ order, model: asked['model_id'], from: asked['path'] });
    return json(200, { request_id: order });
  };
  const learner = await replayed('two steps', {
    settings: { patienceS: 0 },
    instead: (asked) => {
      if (isBack) return anew(asked);
      // The answer to the step is lost, and nothing else is answered.
      if (!isOut) return undefined;
      return asked.path.endsWith('/optim_step') ? 'cut' : json(400, { detail: 'out' });
    },
  });
  await learner.forwardBackward(batchOf(twoSequences), clippedLoss);
  isOut = true;
  await rejectionOf(learner.optimStep(smallStep));
  await rejectionOf(learner.discardGradients());
  isBack = true;
  // The adapter itself is not there to be fetched.
  await rejectionOf(learner.saveState(join(folder, 'kept')));
  const loads = orders.findIndex(({ order }) => order === 'load_weights');
  const saves = orders.findIndex(({ order }) => order === 'save_weights');
  expect(saves).toBeGreaterThan(loads);
  expect(orders[saves]!.model).toBe('anew');
  // The state before the step, and nothing of the step.
  expect(orders[loads]!.from).toMatch(/weights\/state-0-/);
  expect(orders.slice(loads, saves).map(({ order }) => order)).not.toContain('optim_step');
});

describe('A question', () => {
  test.each<[string, Parameters<typeof once>[1], object]>([
    ['that the service has not answered yet is asked again', json(408, { detail: 'wait' }), fixed],
    ['whose answer is torn is asked again', (half) => ({ half }), { ...fixed, patienceS: 60 }],
    ['whose answer is lost is asked again', 'cut', { ...fixed, patienceS: 60 }],
  ])('%s', async (_, outcome, settings) => {
    const instead = once('/retrieve_future', outcome);
    await expectTwoSteps(await replayed('a gradient that never arrives', { settings, instead }));
  });

  test('fails when its answer has no end', async () => {
    const opening = replayed('two steps', { instead: once('/retrieve_future', 'endless') });
    const refused = errorOf('LEARNING_FAILED', 'is unreachable');
    await expect(opening).rejects.toMatchObject(refused);
  });
});

describe('The learner', () => {
  /** The first gradient, with the numbers of a field replaced. */
  const withNumbers = (field: string, value: number) => {
    let left = 1;
    return (_: Asked, answer: Outcome): Outcome => {
      if (typeof answer !== 'object' || !('body' in answer)) return answer;
      const at = answer.body.indexOf(field);
      if (at < 0 || left-- === 0) return answer;
      // Behind the name: key and length of BatchedTensor, then of its data.
      const body = Buffer.from(answer.body);
      const data = body.indexOf(Buffer.from([0x0a]), at + field.length + 1);
      body.writeFloatLE(value, data + 3 + 4);
      return { ...answer, body };
    };
  };

  test.each([
    ['logprobs', Number.NaN, 'returned NaN as the log-probability'],
    ['logprobs', 3, 'returned 3 as the log-probability'],
    ['elementwise_loss', 7, 'minimises a different loss'],
  ])('refuses %s of %d before a step', async (field, value, text) => {
    const changed = withNumbers(field, value);
    const learner = await replayed('a gradient that never arrives', { changed });
    const refused = errorOf('LEARNING_FAILED', text);
    await expect(takeTwoSteps(learner)).rejects.toMatchObject(refused);
    expect(service.left()).toContain('POST /api/v1/optim_step');
  });

  test('refuses bytes that are not a valid message', async () => {
    const torn = { status: 200, type: 'application/x-protobuf', body: Buffer.from([0x0a, 0x7f]) };
    let passes = 0;
    const instead: Instead = ({ path }) => {
      if (path.endsWith('/forward_backward')) passes += 1;
      return passes > 0 && path.endsWith('/retrieve_future') ? torn : undefined;
    };
    const learner = await replayed('a gradient that never arrives', { instead });
    await expect(takeTwoSteps(learner)).rejects.toThrow('unreadable answer');
  });
});

describe('The opening of a learner', () => {
  const gradient = 'a gradient that never arrives';
  const adapted = (changes: Partial<typeof lora>) => ({
    host: { adapter: { ...lora, ...changes } },
  });
  const kl = { kind: 'k3', weight: 1 } as const;
  const unknownKey = json(401, { detail: 'no such key' });

  test.each<[string, Given, string, string?]>([
    ['clipping of gradients', { host: { maxGradNorm: 1 } }, 'train.maxGradNorm 1'],
    ['dropout', adapted({ dropout: 0.1 }), 'model.lora.dropout'],
    ['scaling by a root', adapted({ rankStabilised: true }), 'model.lora.rankStabilised'],
    ['weights that the service has not', { host: { changesWeights: true } }, 'model.quantize'],
    ['another alpha than the service has', adapted({ alpha: 16 }), 'model.lora.alpha is 16'],
    ['a KL term in the loss', { host: { loss: { ...clippedLoss, kl } } }, 'algorithm.kl.in'],
    [
      'a model that the service does not have',
      { settings: { ...fixed, model: 'another' } },
      'learner.model "another" does not exist: the service has /models/starter',
      'two steps',
    ],
    [
      'a key that the service rejects',
      { instead: once('/get_server_capabilities', unknownKey) },
      '(401: no such key)',
    ],
  ])('refuses %s and names what to change', async (_, given, text, scenario = gradient) => {
    const opening = replayed(scenario, given);
    await expect(opening).rejects.toMatchObject(errorOf('CONFIG_INVALID', text));
  });

  test('refuses a run without an adapter', async () => {
    const { adapter: _, ...host } = learnerHost();
    service = await replayedService([]);
    const opening = tinkerLearner(learnerSettings(service.url), host);
    await expect(opening).rejects.toThrow('model.lora');
  });

  test('sends the key in its own header and takes it from a variable', async () => {
    const keys = new Set<unknown>();
    const instead = ({ headers, path }: Asked) => {
      if (!path.endsWith('session_heartbeat')) keys.add(headers['x-api-key']);
      return undefined;
    };
    const host = { environment: { TINKER_API_KEY: 'tml-1' } };
    const settings = { patienceS: 0, apiKeyEnv: 'TINKER_API_KEY' };
    await replayed('two steps', { host, settings, instead });
    expect([...keys]).toEqual(['tml-1']);
  });

  test('refuses a service that takes neither sums nor means of sequences', async () => {
    let norm = 1;
    const changed = (_: Asked, answer: Outcome): Outcome => {
      if (typeof answer !== 'object' || !('body' in answer)) return answer;
      if (!answer.body.includes('grad_norm')) return answer;
      norm *= 2;
      return json(200, { metrics: { 'skyrl.ai/grad_norm': norm } });
    };
    const opening = replayed('two steps', { settings: { patienceS: 0 }, changed });
    await expect(opening).rejects.toThrow('sum: 4 and 8; sequence-mean: 16 and 32');
  });
});
