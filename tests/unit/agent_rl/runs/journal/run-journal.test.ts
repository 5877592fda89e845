import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import type { Generation } from '#agent_rl/core/services/generator.ts';
import { frameOf } from '#agent_rl/runs/journal/event-frame.ts';
import { JournalWriter } from '#agent_rl/runs/journal/journal-writer.ts';
import { recordedAfter } from '#agent_rl/runs/journal/recorded-rollouts.ts';
import { RunJournal } from '#agent_rl/runs/journal/run-journal.ts';
import { segmentsOf } from '#agent_rl/runs/journal/segments.ts';
import { damageEvent, episodesIn, sessionEvent } from '#tests/support/journal.ts';
import { played, sequence } from '#tests/support/rollouts.ts';
import { freshFolder, temporaryFolder } from '#tests/support/temporary-folder.ts';

const root = temporaryFolder();

const key = { run: 'run', when: 'train', iteration: 1, round: 0, slot: 0, sample: 0 } as const;
const draws = { seed: 0, taskId: 't', sample: 0 };
const asking = (turn: number) => ({ ...draws, turn });

const drawn = (token: number): Generation => ({
  tokens: [token],
  logProbs: [-0.5],
  stop: 'max-tokens',
  version: 3,
});

/** A session of a run that goes on after iteration 0. It ends without a word where it is not closed. */
async function session(folder: string, facts: object = {}) {
  const problems: string[] = [];
  const damaged = (problem: string) => void problems.push(problem);
  const writer = await JournalWriter.open({ folder, durable: 'process', damaged });
  const journal = new RunJournal(writer, await recordedAfter(folder, 0, damaged), damaged);
  journal.write(sessionEvent({ from: 0, ...facts }));
  return { journal, problems };
}

/** The same, with an attempt at a rollout under way. */
async function playing(folder: string) {
  const begun = await session(folder);
  const attempt = begun.journal.begin(key, draws, 0);
  const take = (...asked: string[]) => asked.map((one) => begun.journal.drawn(asking(0), one));
  return { ...begun, attempt, take };
}

const openFile = (folder: string): string => segmentsOf(folder).at(-1)!.file;

test('a generation is given once to a later session', async () => {
  const folder = freshFolder(root);
  const first = await playing(folder);
  await first.journal.draw(asking(0), 'a', drawn(5));
  await first.journal.draw(asking(1), 'b', drawn(6));
  const { journal, attempt, take } = await playing(folder);
  expect(attempt.isReplayed).toBe(true);
  expect(take('a', 'a', 'c')).toEqual([drawn(5), undefined, undefined]);
  expect(journal.taken).toMatchObject({ turns: 1, rollouts: 0 });
});

test('an event cut short is left out, and what is drawn later is whole', async () => {
  const folder = freshFolder(root);
  const first = await playing(folder);
  await first.journal.draw(asking(0), 'a', drawn(5));
  const torn = { type: 'generation', ...key, turn: 1, data: { asked: 'b' } } as const;
  appendFileSync(openFile(folder), frameOf({ seq: 2, ...torn }).subarray(0, -1));
  const second = await playing(folder);
  await second.journal.draw(asking(2), 'c', drawn(7));
  const { take, problems } = await playing(folder);
  expect(take('a', 'b', 'c')).toEqual([drawn(5), undefined, drawn(7)]);
  expect([...second.problems, ...problems]).toEqual([]);
});

test('a damaged event is named and not given', async () => {
  const folder = freshFolder(root);
  const first = await playing(folder);
  await first.journal.draw(asking(0), 'a', drawn(5));
  await first.journal.draw(asking(1), 'b', drawn(6));
  const file = openFile(folder);
  const offset = damageEvent(file, 1);
  const { take, problems } = await playing(folder);
  const place = `${file}: the event at byte ${offset}: its checksum does not match`;
  expect(problems).toEqual([place]);
  expect(take('a', 'b')).toEqual([undefined, drawn(6)]);
});

test('a rollout that was judged is given whole, with what was drawn in it, and a failed one is not', async () => {
  const folder = freshFolder(root);
  const { journal } = await playing(folder);
  await journal.draw(asking(0), 'a', { ...drawn(0), tokens: [10, 11], logProbs: [-0.5, -0.5] });
  const rollout = played({ ...key, sequences: [sequence(2, 2)], reward: 0.5 });
  journal.ended(rollout);
  const failed = played({ ...key, slot: 1, taskId: 'u', outcome: 'infrastructure-error' });
  journal.ended(failed);
  const later = (await session(folder)).journal;
  const whole = later.completed(key)!;
  expect(whole).toMatchObject(JSON.parse(JSON.stringify(rollout)) as object);
  expect([later.completed(key), later.completed(failed.key)]).toEqual([undefined, undefined]);
  expect(later.taken.rollouts).toBe(1);
});

test('a rollout that begins anew and draws the same again is read with what it drew', async () => {
  const run = freshFolder(root);
  const folder = join(run, 'journal');
  const answer = { ...drawn(0), tokens: [10, 11], logProbs: [-0.5, -0.5] };
  const first = await playing(folder);
  await first.journal.draw(asking(0), 'a', answer);
  const { journal, attempt, take } = await playing(folder);
  attempt.beginAnew();
  expect(take('a')).toEqual([undefined]);
  await journal.draw(asking(0), 'a', answer);
  journal.ended(played({ ...key, sequences: [sequence(2, 2)] }));
  journal.write({ type: 'iteration', when: 'train', iteration: 1 });
  const [episode] = await episodesIn(run, 'train');
  expect(episode?.sequences).toMatchObject([{ tokens: [1, 2, 10, 11] }]);
});

test('a session that discards what was recorded gives a later one nothing of it', async () => {
  const folder = freshFolder(root);
  const { journal } = await playing(folder);
  journal.ended(played(key));
  await session(folder, { voids: true });
  expect((await session(folder)).journal.completed(key)).toBeUndefined();
});

test('a call is given with its result, or as one that had begun', async () => {
  const folder = join(freshFolder(root), 'calls');
  const first = await playing(folder);
  const call = { id: 'call_0_0', name: 'add', arguments: {} };
  const executed = { call, status: 'ok', result: { content: '2' }, wallMs: 1 } as const;
  const place = (index: number) => ({ agent: 'policy', turn: 0, call: index });
  await first.attempt.callBegun(place(0), call);
  first.attempt.callEnded(place(0), executed);
  await first.attempt.callBegun(place(1), call);
  const { attempt } = await playing(folder);
  const found = [0, 1, 2].map((index) => attempt.recordedCall(place(index)));
  expect(found).toEqual([{ ended: executed }, { ended: undefined }, undefined]);
});
