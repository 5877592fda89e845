import { expect, test } from '@jest/globals';

import { runChecks } from '#agent_rl/runs/signs/run-checks.ts';
import { runVerdict } from '#agent_rl/runs/signs/run-verdict.ts';
import { evidenceOf, type Sketch } from './evidence.ts';

const verdictOf = (sketch: Sketch) => {
  const evidence = evidenceOf(sketch);
  return runVerdict(evidence, runChecks(evidence));
};
const heldOut = (before: number, after: number, low: number, high: number) => ({
  heldOut: { before, after, interval: [low, high] as const },
});

test('a run whose held-out success rose got better, whatever else is found', () => {
  const sketch = { ...heldOut(0.2, 0.9, 0.6, 0.8), metrics: { 'rollout/toolCallRate': 0.3 } };
  expect(verdictOf(sketch)).toEqual({
    is: 'better',
    says: 'Held-out success rose from 20.0 % to 90.0 %.',
  });
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
])(
  'a change from 0.3 to %d within chance after %d iterations is unclear',
  (after, iterations, text) => {
    const { says } = verdictOf({ ...heldOut(0.3, after, -0.1, 0.1), iterations });
    expect(says).toMatch(text);
  },
);

test('a run without evaluations is judged by its training, and a control is not judged', () => {
  expect(verdictOf({ late: { 'rollout/successRate': 0.05 } }).is).toBe('worse');
  expect(verdictOf({ late: { 'rollout/successRate': 0.9 } })).toMatchObject({ is: 'better' });
  expect(verdictOf({ config: { train: { control: 'shuffled-rewards' } } }).is).toBe('control');
});
