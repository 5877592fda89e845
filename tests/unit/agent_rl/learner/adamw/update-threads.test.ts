import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, jest, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { AdamwState } from '#agent_rl/learner/adamw/adamw-state.ts';
import { UpdateHelper } from '#agent_rl/learner/adamw/update-helper.ts';
import {
  pieceLength,
  piecesOf,
  type Piece,
  type StepFactors,
  updatePiece,
} from '#agent_rl/learner/adamw/update-piece.ts';
import { UpdateSlot } from '#agent_rl/learner/adamw/update-slot.ts';

import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { learnOnce } from '#tests/support/tiny-engine.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';
import { rejectionOf, thrownBy } from '#tests/support/thrown.ts';
import { until } from '#tests/support/until.ts';

const folder = temporaryFolder();
const closing: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((one) => one.close()));
});
const closed = <T extends { close: () => Promise<void> }>(one: T): T => {
  closing.push(one);
  return one;
};

const factors: StepFactors = {
  scale: 0.5,
  beta1: 0.9,
  beta2: 0.99,
  rate: 0.01,
  rootCorrection: 1.5,
  eps: 1e-8,
};

/** Between -0.5 and 0.5. */
function wave(length: number, by: number): Float32Array {
  const values = new Float32Array(length);
  for (let i = 0; i < length; i++) values[i] = (((i + 1) * by) % 1) - 0.5;
  return values;
}

/** In memory that threads share. */
const sharedWave = (length: number, by: number): Float32Array => {
  const values = new Float32Array(new SharedArrayBuffer(4 * length));
  values.set(wave(length, by).map(Math.abs));
  return values;
};

const parameterOf = (length: number): Piece => ({
  parameter: 1,
  from: 0,
  weights: wave(length, 0.1),
  gradient: wave(length, 0.2),
  m: sharedWave(length, 0.3),
  v: sharedWave(length, 0.4),
  kept: 0.75,
});

const other = { m: sharedWave(8, 1), v: sharedWave(8, 2) };

const copyOf = (piece: Piece): Piece => ({
  ...piece,
  weights: piece.weights.slice(),
  m: piece.m.slice(),
  v: piece.v.slice(),
});

/** A parameter with its last piece given away, and the same one updated here. */
const lastPiece = () => {
  const whole = parameterOf(pieceLength + 3);
  const expected = copyOf(whole);
  const piece = piecesOf(whole).at(-1) as Piece;
  const squares = updatePiece(piecesOf(expected).at(-1) as Piece, factors);
  return { whole, expected, piece, squares };
};

test('a parameter is cut into pieces that cover it once', () => {
  const pieces = piecesOf(parameterOf(2 * pieceLength + 3));
  expect(pieces.map(({ from, weights }) => [from, weights.length])).toEqual([
    [0, pieceLength],
    [pieceLength, pieceLength],
    [2 * pieceLength, 3],
  ]);
});

test('a piece that another thread updates ends as one that is updated here', async () => {
  const { whole, expected, piece, squares } = lastPiece();
  const helper = closed(new UpdateHelper([other, { m: whole.m, v: whole.v }]));
  const results = new Float64Array(5);
  const toGive = [{ piece, index: 4 }];
  helper.exchange(() => toGive.pop(), factors, results);
  await until(() => {
    helper.exchange(() => undefined, factors, results);
    return results[4] !== 0;
  });
  expect([...results]).toEqual([0, 0, 0, 0, squares]);
  expect(whole).toEqual(expected);
});

test('a thread that has ended is reported before a step begins', async () => {
  const helper = new UpdateHelper([]);
  helper.requireRunning();
  await helper.close();
  const { code, message } = thrownBy(() => helper.requireRunning());
  expect(code).toBe('ENGINE_FAILED');
  expect(message).toMatch(/^A thread of the optimiser's step ended \(its exit code was/);
});

test('a piece is taken back only as long as nobody has begun it', () => {
  const { whole, expected, piece, squares } = lastPiece();
  const giver = new UpdateSlot();
  const taker = new UpdateSlot(giver.memory);
  giver.give(piece, factors);
  expect(giver.takeBack()).toBe(true);
  expect(taker.work([other, whole])).toBe(false);
  giver.give(piece, factors);
  expect(taker.work([other, whole])).toBe(true);
  expect([giver.takeBack(), giver.isDone, giver.wait(0)]).toEqual([false, true, true]);
  expect(giver.collect(piece)).toBe(squares);
  expect([giver.isDone, giver.takeBack()]).toEqual([false, false]);
  expect(whole).toEqual(expected);
});

test('a piece that is not done in time is not collected', () => {
  const slot = new UpdateSlot();
  slot.give(lastPiece().piece, factors);
  const taken = 2;
  new Int32Array(slot.memory)[0] = taken;
  expect(slot.wait(1)).toBe(false);
});

// Large enough to be shared; one length a multiple of a piece's, one shorter than a piece, one without a gradient.
const lengths = { even: 40 * pieceLength, odd: 24 * pieceLength + 17, short: 5, still: 70_000 };
const options = {
  learningRate: 0.01,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0.1,
  maxGradNorm: 1,
};

function opened(threads: number) {
  const parameters = new Map(
    Object.entries(lengths).map(([name, length]) => [name, wave(length, 0.1)]),
  );
  const state = closed(new AdamwState(parameters, new Set(['even', 'still']), threads));
  const metrics: unknown[] = [];
  const step = (): void => {
    for (const name of ['short', 'odd', 'even'] as const)
      state.accumulate(name, wave(lengths[name], 0.7 / (metrics.length + 1)));
    metrics.push(state.step(options));
  };
  return { parameters, state, metrics, step };
}

const sameBits = (
  one: ReadonlyMap<string, Float32Array>,
  two: ReadonlyMap<string, Float32Array>,
): boolean =>
  [...one].every(([name, values]) =>
    Buffer.from(values.buffer as ArrayBuffer).equals(
      Buffer.from(two.get(name)!.buffer as ArrayBuffer),
    ),
  );

describe('AdamwState', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test.each([2, 12])('leaves the bits of one thread where %i share its steps', async (threads) => {
    const collected = jest.spyOn(UpdateSlot.prototype, 'collect');
    const [alone, together] = [opened(1), opened(threads)];
    // Until the others have started and do their share.
    await until(() => {
      together.step();
      return collected.mock.calls.length > 0;
    });
    while (alone.metrics.length < together.metrics.length) alone.step();
    expect(together.metrics).toEqual(alone.metrics);
    expect(sameBits(together.parameters, alone.parameters)).toBe(true);
    expect(sameBits(together.state.m, alone.state.m)).toBe(true);
    expect(sameBits(together.state.v, alone.state.v)).toBe(true);
  });

  test('leaves everything as it was where a thread has ended before the step', async () => {
    const { state, step, parameters } = opened(2);
    step();
    const before = parameters.get('odd')!.slice();
    await state.close();
    expect(thrownBy(step).code).toBe('ENGINE_FAILED');
    expect(state.steps).toBe(1);
    expect(parameters.get('odd')).toEqual(before);
    state.requireWhole();
  });

  test('knows that a step ended in its middle, and takes no other', () => {
    jest.spyOn(UpdateSlot.prototype, 'takeBack').mockReturnValue(false);
    jest.spyOn(UpdateSlot.prototype, 'wait').mockReturnValue(false);
    const { state, step } = opened(2);
    const error = thrownBy(step);
    expect(error.message).toMatch(/did not finish its part in 60 s.*newest checkpoint/);
    expect(thrownBy(() => state.requireWhole())).toBe(error);
    expect(thrownBy(step)).toBe(error);
    expect(state.steps).toBe(1);
  });
});

test('weights of a step that ended in its middle are neither saved nor published', async () => {
  const engine = closed(new OnnxEngine({ device: 'cpu', threads: 1 }));
  const config = { ...tinyModelConfig, vocabSize: 2 ** 18 };
  const parameters = initialParameters(config, new KeyedRng(1));
  const learner = closed(
    new LocalLearner(engine, config, parameters, { microBatchTokens: 16, threads: 2 }),
  );
  await learnOnce(learner);
  await learner.saveState(join(folder, 'whole'));
  jest.spyOn(UpdateSlot.prototype, 'takeBack').mockReturnValue(false);
  jest.spyOn(UpdateSlot.prototype, 'wait').mockReturnValue(false);
  const error = await rejectionOf(learnOnce(learner));
  jest.restoreAllMocks();
  expect(error.code).toBe('ENGINE_FAILED');
  expect(await rejectionOf(learner.saveState(join(folder, 'torn')))).toBe(error);
  const target = { kind: 'folder', folder: join(folder, 'published') } as const;
  expect(await rejectionOf(learner.exportWeights(target))).toBe(error);
  expect(readdirSync(folder)).toEqual(['whole']);
});
