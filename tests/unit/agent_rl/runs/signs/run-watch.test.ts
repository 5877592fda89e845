import { describe, expect, test } from '@jest/globals';

import { RunSettings } from '#agent_rl/runs/query/run-settings.ts';
import { RunWatch, warningsOf } from '#agent_rl/runs/signs/run-watch.ts';
import type { Metrics } from '#agent_rl/telemetry/index.ts';
import { evidenceOf, type Sketch } from './evidence.ts';
import { runChecks } from '#agent_rl/runs/signs/run-checks.ts';
import { runVerdict } from '#agent_rl/runs/signs/run-verdict.ts';

const { settings, prompt, series } = evidenceOf();
const [healthy = { metrics: {} }] = series.iterations;

/** The warnings, and after which iteration, of a run whose metrics change. */
function watched(
  changes: readonly Metrics[],
  { tools = true, settings: of = settings } = {},
): [number, string][] {
  const watch = new RunWatch({ settings: of, prompt, tools });
  return changes.flatMap((change, index) => {
    const told = watch.note(index + 1, { ...healthy.metrics, ...change }, []);
    return told === undefined ? [] : [[index + 1, told.check] as [number, string]];
  });
}

const times = (count: number, change: Metrics = {}): Metrics[] =>
  Array.from({ length: count }, () => change);
/** Success rises, so that nothing else is to be said. */
const learning = (count: number): Metrics[] =>
  times(count).map((_, index) => ({
    'rollout/successRate': 0.3 + (0.6 * index) / count,
    'rollout/entropyEstimate': 0.5 - (0.2 * index) / count,
  }));

describe('The watch on a run', () => {
  test('says nothing of a run that learns, even slowly, nor of a warm-up', () => {
    expect(watched(learning(40))).toEqual([]);
    const slow = times(40).map((_, index) => ({
      'rollout/successRate': 0.3 + 0.001 * index,
      'train/optimizerSteps': index + 1,
    }));
    const long = new RunSettings({ train: { warmupSteps: 20, iterations: 40 } });
    expect(watched(slow, { settings: long })).toEqual([]);
  });

  test('warns once, after the second iteration, of what is surely wrong', () => {
    const unread = { 'rollout/malformedCalls': 300 };
    expect(watched(times(8, unread))).toEqual([[2, 'unread-calls']]);
  });

  test('does not warn after one iteration', () => {
    const changes = learning(20).map((change, index) =>
      Object.assign(change, index === 0 ? { 'rollout/malformedCalls': 51 } : {}),
    );
    expect(watched(changes)).toEqual([]);
  });

  test('warns of a trend after ten iterations, of the cause without its effects', () => {
    const avoids = { 'rollout/toolCallRate': 0.2, 'rollout/successRate': 0.1 };
    const told = watched([...times(5), ...times(25, avoids)]);
    expect(told).toEqual([[11, 'no-calls']]);
  });

  test('warns of an effect where no cause is found', () => {
    const level = { 'rollout/successRate': 0.4 };
    const changes = learning(6).map((change) => Object.assign(change, level));
    const longer = times(12, { ...changes.at(-1), 'rollout/lengthMean': 450 });
    expect(watched([...changes, ...longer])).toEqual([[11, 'lengths']]);
  });

  test('does not miss tools in a run without any', () => {
    const silent = { 'rollout/toolCallRate': 0, 'rollout/malformedCalls': 0 };
    expect(watched(times(5, silent), { tools: false })).toEqual([]);
    expect(watched(times(5, silent))).toEqual([[2, 'no-calls']]);
  });

  test('compares with its first iterations however long it trains', () => {
    const falls = { 'rollout/successRate': 0.05, 'rollout/entropyEstimate': 0.3 };
    const told = watched([...learning(60), ...times(10, falls)]);
    expect(told[0]).toEqual([expect.any(Number), 'success']);
  });
});

test('a run that begins to repeat itself warns once, with the iteration', () => {
  const warned: string[] = [];
  const run = { settings: new RunSettings({}), tools: true, prompt: 'in the prompt' };
  const warn = warningsOf(run, { warn: (text) => warned.push(text) });
  for (let iteration = 1; iteration <= 20; iteration++) {
    const metrics = { 'rollout/repetition': iteration > 5 ? 0.4 : 0.02 };
    warn({ type: 'iteration', iteration, metrics, learned: [] });
  }
  expect(warned).toEqual([
    expect.stringMatching(/^Iteration 10: 40\.0 % of 4-grams are repeats within their turn/),
  ]);
});

const verdictOf = (sketch: Sketch) => {
  const evidence = evidenceOf(sketch);
  return runVerdict(evidence, runChecks(evidence));
};
const heldOut = (before: number, after: number, low: number, high: number) => ({
  heldOut: { before, after, interval: [low, high] as const },
});

test('a run whose held-out success rose got better, whatever else is found', () => {
  const sketch = { ...heldOut(0.2, 0.9, 0.6, 0.8), metrics: { 'rollout/toolCallRate': 0.3 } };
  const says = 'Held-out success rose from 20.0 % to 90.0 %.';
  expect(verdictOf(sketch)).toEqual({ is: 'better', says });
});

test('a run whose held-out success fell got worse, with its cause', () => {
  const late = { 'rollout/toolCallRate': 0.1, 'rollout/successRate': 0.05 };
  const { is, says } = verdictOf({ ...heldOut(0.4, 0.05, -0.4, -0.3), late });
  expect(is).toBe('worse');
  expect(says).toMatch(
    /^The run got worse: held-out success fell from 40\.0 % to 5\.0 %\. Likely cause: the policy learns to avoid its tools: the share of episodes with a call went from .* \[no-calls\]\.$/,
  );
});

test.each([
  [0.32, 12, /^Held-out success went from 30\.0 % to 32\.0 %, which may be chance\./],
  [0.3, 1, /^Held-out success did not change: 30\.0 %\. 1 iteration is too few/],
  [0.3, 2, /did not change: 30\.0 %\. 2 iterations are too few/],
])('a change from 0.3 to %d after %d iterations is unclear', (after, iterations, text) => {
  const { says } = verdictOf({ ...heldOut(0.3, after, -0.1, 0.1), iterations });
  expect(says).toMatch(text);
});

test('a run without evaluations is judged by its training, and a control is not judged', () => {
  expect(verdictOf({ late: { 'rollout/successRate': 0.05 } }).is).toBe('worse');
  expect(verdictOf({ late: { 'rollout/successRate': 0.9 } })).toMatchObject({ is: 'better' });
  expect(verdictOf({ config: { train: { control: 'shuffled-rewards' } } }).is).toBe('control');
});
