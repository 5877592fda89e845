import { describe, expect, test } from '@jest/globals';

import { builtinSelection } from '#tests/support/algorithm-parts.ts';
import { always, failing, mixed, type Script, trained } from '#tests/support/grpo-trainer-setup.ts';
import { played } from '#tests/support/rollouts.ts';
import { errorOf } from '#tests/support/thrown.ts';

const train = { iterations: 1 };
const dynamic = (cap: number) => ({
  algorithm: { selection: builtinSelection('dynamic', { cap }) },
});

describe('The collection of groups', () => {
  test('gives every group its own seed, also a replacement', async () => {
    const script: Script = ({ task, key: { sample } }) =>
      played({ reward: ['t0', 't1'].includes(task.taskId) ? 0 : sample });
    const { rollouts } = await trained(script, dynamic(1));
    const drawn = rollouts.requests.map(({ task, seed }) => `${task.taskId} ${seed}`);
    expect(new Set(drawn).size).toBe(6);
    expect(new Set(rollouts.requests.map(({ seed }) => seed)).size).toBe(6);
  });

  test.each([{}, dynamic(2)])('draws the next tasks alike with %o', async (changes) => {
    const { rollouts } = await trained(always(0), changes);
    const ofIteration = rollouts.requests.filter(
      ({ key }) => key.iteration === 2 && key.round === 0 && key.sample === 0,
    );
    expect(ofIteration.map(({ task }) => task.taskId)).toEqual(['t2', 't3']);
  });

  test('gives an episode a key that locates it in the run', async () => {
    const { rollouts } = await trained(mixed);
    const place = { run: 'run', when: 'train', iteration: 2, round: 0, slot: 1, sample: 0 };
    expect(rollouts.requests[6]?.key).toEqual(place);
  });

  test('goes on with other seeds and the same weights after an iteration without learning', async () => {
    const { rollouts } = await trained(always(0));
    const ofGroups = rollouts.requests.filter(({ key: { sample } }) => sample === 0);
    expect(ofGroups.map(({ step }) => step)).toEqual([0, 0, 0, 0]);
    expect(new Set(ofGroups.map(({ seed }) => seed)).size).toBe(4);
  });
});

test('rejection-sampling trains on good episodes, weights only their tokens, and books the others', async () => {
  const of = (groups: readonly (readonly (number | undefined)[])[]) =>
    groups.map((group) => group.map((reward) => (reward === undefined ? undefined : 1)));
  const selection = builtinSelection('best-of', { above: 0 });
  const algorithm = { advantage: { name: 'constant', of }, selection };
  const { learner, metrics } = await trained(mixed, { algorithm, train });
  const data = learner.batches.flat();
  expect(data.map(({ advantages }) => Math.max(...advantages))).toEqual([1, 1]);
  const weight = data.reduce((all, { weights }) => weights.reduce((a, b) => a + b, all), 0);
  expect(weight).toBeCloseTo(1, 6);
  expect(metrics[0]).toMatchObject({ 'ledger/not-selected': 6, 'ledger/trained': 6 });
});

test('the length penalty applies before episodes are compared, and is logged', async () => {
  // At most 8 tokens: 8 sampled lose 1, 2 lose nothing.
  const { learner, metrics } = await trained(
    ({ key: { sample } }) => played({ reward: 1, sampled: sample === 0 ? 2 : 8 }),
    { algorithm: { overlong: { share: 0.5, penalty: 1 } }, train },
  );
  const advantages = learner.batches.flat().map(({ advantages: all }) => all.at(-1));
  expect(advantages).toEqual([0.5, -0.5, 0.5, -0.5]);
  expect(metrics[0]?.['rollout/overlongPenaltyMean']).toBeCloseTo(0.5, 9);
});

test.each([
  ['it never accepts a group', () => ({ again: true }), /"own"/],
  ['it omits an episode', () => ({ members: [true] }), /returned 1 members for 2 episodes/],
])('a selection of the user ends the run by its name if %s', async (_, of, message) => {
  const selection = { name: 'own', of };
  const { error } = await failing(always(1), { algorithm: { selection }, train });
  expect(error).toMatchObject(errorOf('PLUGIN_LOAD_FAILED', message));
});
