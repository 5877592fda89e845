import { expect, test } from '@jest/globals';

import { LongestFirst } from '#agent_rl/rollout/longest-first.ts';
import { played } from '#tests/support/rollouts.ts';

type Metadata = Readonly<Record<string, unknown>>;
const task = (taskId: string, metadata: Metadata = {}) => ({ taskId, prompt: '', metadata });

const named = (...ids: readonly string[]) => ids.map((id) => task(id));

/** An episode with this number of sampled tokens after a prompt of two. */
const sampled = (tokens: number) => played({ prompt: 2, sampled: tokens });

const orderOf = (order: LongestFirst, tasks: readonly ReturnType<typeof task>[]) =>
  order.order(tasks.map((one) => ({ task: one })));

test('tasks whose episodes sampled more tokens begin first', () => {
  const order = new LongestFirst();
  order.note(task('short'), sampled(3));
  order.note(task('long'), sampled(9));
  // A mean of 6.
  order.note(task('middle'), sampled(2));
  order.note(task('middle'), sampled(10));
  expect(orderOf(order, named('short', 'middle', 'long'))).toEqual([2, 1, 0]);
});

test('the members of a group stay together, in their order', () => {
  const order = new LongestFirst();
  order.note(task('a'), sampled(1));
  order.note(task('b'), sampled(2));
  expect(orderOf(order, named('a', 'a', 'b', 'b'))).toEqual([2, 3, 0, 1]);
});

test('an unknown task is estimated by its family, or by its slice', () => {
  const order = new LongestFirst();
  const deep = { family: 'deep', slice: 'trained' };
  order.note(task('1', deep), sampled(30));
  order.note(task('2', { family: 'flat', slice: 'trained' }), sampled(10));
  // Of the slice, a mean of 20.
  const flat = { family: 'flat', slice: 'trained' };
  const tasks = [task('3', flat), task('4', { family: 'new', slice: 'trained' }), task('5', deep)];
  expect(orderOf(order, tasks)).toEqual([2, 1, 0]);
});

test('a task without an estimate begins first', () => {
  const order = new LongestFirst();
  order.note(task('a'), sampled(5));
  expect(orderOf(order, named('a', 'b', 'a', 'c'))).toEqual([1, 3, 0, 2]);
});
