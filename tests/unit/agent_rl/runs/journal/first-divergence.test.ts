import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import type { JournalEvent } from '#agent_rl/core/services/journal.ts';
import { divergenceOf } from '#agent_rl/jobs/replay/diff-runs.ts';
import { sessionEvent, writeEvents } from '#tests/support/journal.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const root = temporaryFolder();
let made = 0;

const key = { when: 'train', iteration: 1, round: 0, slot: 0, sample: 0 } as const;

const generation = (turn: number, tokens: number[], logProb = -0.5): JournalEvent => ({
  type: 'generation',
  ...key,
  attempt: 0,
  agent: 'policy',
  turn,
  version: 0,
  tokens: Int32Array.from(tokens),
  columns: { logProbs: Float32Array.from(tokens, () => logProb) },
  data: { asked: 'a' },
});
const called = (content: string, wallMs = 1): JournalEvent => ({
  type: 'call-ended',
  ...key,
  attempt: 0,
  agent: 'policy',
  turn: 0,
  call: 0,
  data: { result: { content, data: { cpuMs: wallMs, peakRssBytes: wallMs } }, wallMs },
});
const end: JournalEvent = { type: 'iteration', when: 'train', iteration: 1 };

const runOf = (...events: JournalEvent[]) => {
  const run = join(root, `run-${++made}`);
  writeEvents(run, [sessionEvent(), ...events, end]);
  return { journal: join(run, 'journal') };
};
const first = async (a: JournalEvent[], b: JournalEvent[]) =>
  (await divergenceOf([runOf(...a), runOf(...b)])).first;

test('runs whose events have another order and other times do not differ', async () => {
  const a = [generation(0, [1]), called('x', 1), generation(1, [2])];
  const b = [generation(1, [2]), called('x', 9), generation(0, [1])];
  expect(await divergenceOf([runOf(...a), runOf(...b)])).toEqual({
    batches: 1,
    events: 3,
    unreadable: [],
  });
});

test.each([
  ['a token', [generation(0, [1, 2])], [generation(0, [1, 3])], { at: 'tokens[1]', a: 2, b: 3 }],
  [
    'a log-probability',
    [generation(0, [1])],
    [generation(0, [1], -1)],
    { at: 'logProbs[0]', a: -0.5, b: -1 },
  ],
  ['a result', [called('x')], [called('y')], { at: 'result.content', a: 'x', b: 'y' }],
  ['a length', [generation(0, [1, 2])], [generation(0, [1])], { at: 'tokens[1]', a: 2, b: 'ends' }],
])('the first difference names %s with its place and both values', async (_, a, b, expected) => {
  expect(await first(a, b)).toMatchObject({ batch: 'train 1', ...expected });
});

test('the earliest event of a rollout is named, and one that is absent', async () => {
  const found = await first(
    [generation(0, [1]), called('x'), generation(1, [5])],
    [generation(0, [1]), generation(1, [6])],
  );
  expect(found).toMatchObject({ event: 'call-ended train/1/0/0/0 0 policy 0 0 0', b: 'absent' });
});
