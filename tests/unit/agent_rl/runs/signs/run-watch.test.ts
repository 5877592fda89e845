import { describe, expect, test } from '@jest/globals';

import { CollapseWatch } from '#agent_rl/runs/watch/collapse-watch.ts';
import type { Metrics } from '#agent_rl/telemetry/index.ts';

const healthy = {
  'rollout/episodes': 100,
  'rollout/entropyEstimate': 0.5,
  'rollout/repetition': 0.02,
  'rollout/malformedCalls': 4,
  'rollout/rejectedCalls': 1,
  'rollout/lengthMean': 200,
  'rollout/successRate': 0.4,
  'rollout/successWithoutCalls': 0.02,
  'group/count': 10,
  'group/zeroVariance': 2,
  'group/allRight': 1,
  'sent/ratioTail': 0,
} as const satisfies Metrics;

interface Seen {
  iteration: number;
  about: string;
  text: string;
}

/** Five iterations that are healthy, then as many with what changed. */
function watched(changes: readonly Metrics[], { tools = true } = {}): Seen[] {
  const watch = new CollapseWatch(tools);
  const before = Array.from({ length: 5 }, (): Metrics => ({}));
  return [...before, ...changes].flatMap((change, index) =>
    watch
      .note({ metrics: { ...healthy, ...change } })
      .map((warning) => Object.assign({ iteration: index + 1 }, warning)),
  );
}

const five = (change: Metrics): Metrics[] => Array.from({ length: 5 }, () => change);

describe('the watch for collapse', () => {
  test('says nothing of a run that stays as it is', () => {
    expect(watched(Array.from({ length: 40 }, () => ({})))).toEqual([]);
  });

  test.each<[string, Metrics, RegExp]>([
    [
      'entropy-collapse',
      { 'rollout/entropyEstimate': 0.05, 'group/zeroVariance': 9, 'group/allRight': 3 },
      // 1 of 10 idle at first, 6 of 10 now.
      /from 0\.5 to 0\.05 nats .* from 10\.0 % to 60\.0 %/,
    ],
    ['repetition', { 'rollout/repetition': 0.4 }, /40\.0 % of sampled 4-grams .* at first 2\.0 %/],
    [
      'invalid-calls',
      { 'rollout/malformedCalls': 30, 'rollout/rejectedCalls': 20 },
      // 5 and 50 calls by 100 episodes.
      /0\.5 unreadable or rejected calls an episode .* at first 0\.05/,
    ],
    ['lengths', { 'rollout/lengthMean': 450 }, /longer: from 200 to 450 .* 40\.0 % to 40\.0 %/],
    ['lengths', { 'rollout/lengthMean': 50 }, /shorter: from 200 to 50/],
    ['ratio-tails', { 'sent/ratioTail': 0.03 }, /3\.0 % of the tokens sent/],
    [
      'success-without-tool',
      { 'rollout/successWithoutCalls': 0.3 },
      /30\.0 % of episodes .* at first 2\.0 %/,
    ],
  ])('warns once of %s, with the iteration and the evidence', (about, change, text) => {
    const seen = watched([...five(change), ...five(change)]);
    expect(seen).toEqual([{ iteration: 10, about, text: expect.stringMatching(text) }]);
  });

  test('takes low entropy and equal rewards for success where groups are all right', () => {
    const solved = {
      'rollout/entropyEstimate': 0.05,
      'group/zeroVariance': 9,
      'group/allRight': 9,
      'rollout/successRate': 0.95,
    };
    expect(watched(five(solved))).toEqual([]);
  });

  test('lets episodes grow that succeed more often', () => {
    expect(watched(five({ 'rollout/lengthMean': 450, 'rollout/successRate': 0.6 }))).toEqual([]);
  });

  test('does not miss tools in a run without any, and needs whole windows', () => {
    const change = { 'rollout/malformedCalls': 90, 'rollout/successWithoutCalls': 0.9 };
    expect(watched(five(change), { tools: false })).toEqual([]);
    expect(watched(five(change).slice(1))).toEqual([]);
  });

  test('says nothing of what was not measured', () => {
    const watch = new CollapseWatch(true);
    expect(Array.from({ length: 20 }, () => watch.note({ metrics: {} })).flat()).toEqual([]);
  });
});
