import { expect, test } from '@jest/globals';

import { decoders } from '#agent_rl/compose/model/open-engine.ts';
import type { Config } from '#agent_rl/config/index.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const counter =
  (lag: number) =>
  (run: Partial<Config['run']>, episodes: number, hiddenSize = 64): number =>
    decoders({ run: { device: 'cpu', engineThreads: 4, ...run }, async: { lag } } as Config, {
      description: { ...tinyModelConfig, hiddenSize, vocabSize: 2 ** 18 },
      episodes,
    });
const count = counter(0);

test('all engine threads sample if each has sixteen episodes', () => {
  expect([1, 16, 31, 32, 48, 64, 200].map((episodes) => count({}, episodes))).toEqual([
    1, 1, 1, 2, 3, 4, 4,
  ]);
  expect(count({ engineThreads: 1 }, 64)).toBe(1);
});

test('one thread samples with large weights and on other devices', () => {
  expect(count({}, 64, 512)).toBe(1);
  expect(count({ device: 'webgpu', decoders: 3 }, 64)).toBe(1);
});

test('a configured number is used, except threads without an episode', () => {
  expect(count({ decoders: 3 }, 5, 512)).toBe(3);
  expect(count({ decoders: 8 }, 5)).toBe(5);
});

test('a thread samples beside one that learns', () => {
  const overlapping = counter(1);
  expect([1, 64].map((episodes) => overlapping({}, episodes))).toEqual([2, 4]);
  expect(overlapping({}, 64, 512)).toBe(2);
});
