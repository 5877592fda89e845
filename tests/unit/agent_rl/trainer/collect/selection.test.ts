import { describe, expect, test } from '@jest/globals';

import { builtinSelection } from '#tests/support/algorithm-parts.ts';
import { mixed, never, options, setUp, trained } from '#tests/support/grpo-trainer-setup.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
import { played } from '#tests/support/rollouts.ts';

const { algorithm } = options;
const train = { ...options.train, iterations: 1 };

describe('Rejection-sampling fine-tuning', () => {
  const rft = {
    ...algorithm,
    advantage: {
      name: 'constant',
      of: (groups: readonly (readonly (number | undefined)[])[]) =>
        groups.map((group) => group.map((reward) => (reward === undefined ? undefined : 1))),
    },
    selection: builtinSelection('best-of', { above: 0 }),
  };

  test('trains on good episodes, weights only their tokens, and books the others', async () => {
    const { learner, metrics } = await trained(mixed, { algorithm: rft, train });
    const data = learner.batches.flat();
    expect(data).toHaveLength(2);
    expect(data.map(({ advantages }) => Math.max(...advantages))).toEqual([1, 1]);
    const weight = data.reduce((all, { weights }) => weights.reduce((a, b) => a + b, all), 0);
    expect(weight).toBeCloseTo(1, 6);
    const [first] = metrics;
    expect(first?.['ledger/not-selected']).toBe(first?.['ledger/trained']);
    expect(first?.['ledger/not-selected']).toBeGreaterThan(0);
  });
});

test('the length penalty applies before episodes are compared, and is logged', async () => {
  // At most 8 tokens: 8 sampled lose 1, 2 lose nothing.
  const { learner, metrics } = await trained(
    ({ key: { sample } }) => played({ reward: 1, sampled: sample === 0 ? 2 : 8 }),
    { algorithm: { ...algorithm, overlong: { share: 0.5, penalty: 1 } }, train },
  );
  const advantages = learner.batches.flat().map(({ advantages: all }) => all.at(-1));
  expect(advantages).toEqual([0.5, -0.5, 0.5, -0.5]);
  expect(metrics[0]?.['rollout/overlongPenaltyMean']).toBeCloseTo(0.5, 9);
});

describe('A selection of the user', () => {
  test('ends the run by its name if it never accepts a group', async () => {
    const { trainer } = setUp(() => played({ reward: 1 }), {
      algorithm: { ...algorithm, selection: { name: 'never', of: () => ({ again: true }) } },
      rollout: { ...options.rollout, tasksPerStep: 1 },
      train,
    });
    const { code, message } = await rejectionOf(trainer.train(never));
    expect([code, message]).toEqual(['PLUGIN_LOAD_FAILED', expect.stringContaining('"never"')]);
  });

  test('is refused if it omits an episode', async () => {
    const { trainer } = setUp(mixed, {
      algorithm: { ...algorithm, selection: { name: 'short', of: () => ({ members: [true] }) } },
    });
    const { message } = await rejectionOf(trainer.train(never));
    expect(message).toContain('returned 1 members for 2 episodes');
  });
});
