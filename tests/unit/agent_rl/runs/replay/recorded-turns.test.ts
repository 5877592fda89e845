import { join } from 'node:path';
import { appendFileSync, existsSync, readdirSync } from 'node:fs';

import { expect, test } from '@jest/globals';

import {
  type Generation,
  type GenerationRequest,
  unbiased,
} from '#agent_rl/core/services/generator.ts';
import { RecordedTurns } from '#agent_rl/runs/replay/recorded-turns.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
import { RunGenerations } from '#agent_rl/runs/generations/run-generations.ts';

const root = temporaryFolder();

const sequenceOf = (version: number) => ({
  tokens: [1, 2, 50 + version, 60, 3, 70],
  logProbs: [0, 0, -0.5, -0.25, 0, -1],
  spans: [
    { start: 0, end: 2, source: 'user' },
    { start: 2, end: 4, source: 'sampled', version },
    { start: 4, end: 5, source: 'tool' },
    { start: 5, end: 6, source: 'sampled', version },
  ],
});

/** The first tokens and spans of what weights of version 0 drew. */
function cut(tokens: number, spans: number) {
  const whole = sequenceOf(0);
  return {
    tokens: whole.tokens.slice(0, tokens),
    logProbs: whole.logProbs.slice(0, tokens),
    spans: whole.spans.slice(0, spans),
  };
}

const episode = (version: number, outcome = 'completed', sequence = sequenceOf(version)) => {
  const place = { schema: 3, iteration: 1, taskId: 't', agent: 'policy', sample: 1, seed: 9 };
  return { ...place, step: version, sequences: [sequence], outcome };
};

/** The turns of a run that recorded these episodes. */
function read(...episodes: readonly object[]): Promise<RecordedTurns> {
  const text = episodes.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeBelow(root, 'run/trajectories/train.jsonl', text);
  return RecordedTurns.read(join(root, 'run'));
}

const asked = (tokens: readonly number[], more: Partial<GenerationRequest> = {}) => {
  const key = { seed: 9, taskId: 't', sample: 1, turn: 0 };
  const limits = { maxTokens: 8, stopTokens: [60] };
  return { episode: 'e', tokens, ...limits, sampling: unbiased, key, ...more };
};

test('a turn is what was sampled after its context, by the weights that are asked for', async () => {
  const turns = await read(episode(0), episode(4));
  expect(turns.find(asked([1, 2]), 4)).toEqual({
    turn: { tokens: [54, 60], logProbs: [-0.5, -0.25], stop: 'stop-token', version: 4 },
  });
  expect(turns.find(asked([1, 2]), 0)).toMatchObject({ turn: { tokens: [50, 60] } });
  expect(turns.find(asked([1, 2, 50, 60, 3]), 0)).toEqual({
    turn: { tokens: [70], logProbs: [-1], stop: 'context-full', version: 0 },
  });
});

test('no more tokens are given than are asked for, and a turn may be asked for in pieces', async () => {
  const turns = await read(episode(0));
  const one = { maxTokens: 1 };
  const found = (...tokens: number[]) => turns.find(asked(tokens, one), 0);
  expect(found(1, 2)).toMatchObject({ turn: { tokens: [50], stop: 'max-tokens' } });
  expect(found(1, 2, 50)).toMatchObject({ turn: { tokens: [60], stop: 'stop-token' } });
});

test.each([
  ['other-episode', asked([1, 2], { key: { seed: 8, taskId: 't', sample: 1, turn: 0 } }), 0],
  ['other-context', asked([1, 7]), 0],
  ['not-sampled', asked([1, 2]), 3],
  ['not-sampled', asked([1, 2, 50, 60]), 0],
])('%s is the answer for a turn that the run did not record', async (why, request, version) => {
  const turns = await read(episode(0));
  expect(turns.find(request, version)).toEqual({ why });
});

test('an episode fails where the system or a tool failed in the run, whatever the tool answers now', async () => {
  const system = await read(episode(0, 'infrastructure-error', cut(5, 3)));
  expect(system.find(asked([1, 2, 50, 60, 3]), 0)).toEqual({ why: 'failed' });
  const turns = await read(episode(0, 'infrastructure-error', cut(4, 2)));
  expect(turns.find(asked([1, 2, 50, 60, 3]), 0)).toEqual({ why: 'failed' });
  expect(turns.find(asked([1, 2, 50, 61, 3]), 0)).toEqual({ why: 'other-context' });
});

test('each sequence of a part is looked through', async () => {
  const { sequences, ...one } = episode(0);
  const other = { ...cut(2, 1), tokens: [9, 9] };
  const turns = await read({ ...one, sequences: [other, ...sequences] });
  expect(turns.find(asked([1, 2]), 0)).toMatchObject({ turn: { tokens: [50, 60] } });
});

test('a folder that is no run is refused', async () => {
  const { code } = await rejectionOf(RecordedTurns.read(join(root, 'nothing')));
  expect(code).toBe('CHECKPOINT_INVALID');
});

const drawn = (token: number): Generation => ({
  tokens: [token],
  logProbs: [-0.1],
  stop: 'max-tokens',
  version: 3,
});

const opened = (name: string, iteration: number, keep = true) =>
  RunGenerations.open(join(root, name), { iteration, keep });

test('a generation is given once to a later session', async () => {
  const { generations: first } = await opened('once', 2);
  first.keep('a', drawn(5));
  first.keep('b', drawn(6));
  // The session ended without a word.
  const { generations: second, unreadable } = await opened('once', 2);
  expect([second.held, unreadable]).toEqual([2, []]);
  const taken = ['a', 'a', 'c'].map((name) => second.take(name));
  expect(taken).toEqual([drawn(5), undefined, undefined]);
  expect(second.held).toBe(1);
});

test('a line cut short is left out, and what is drawn later is whole', async () => {
  const { generations: first } = await opened('torn', 0);
  first.keep('a', drawn(5));
  first.close();
  appendFileSync(join(root, 'torn', 'after-0-0.jsonl'), '{"asked":"b","drawn":{"tok');
  const { generations: second } = await opened('torn', 0);
  second.keep('c', drawn(7));
  const { generations: third } = await opened('torn', 0);
  const taken = ['a', 'b', 'c'].map((name) => third.take(name));
  expect(taken).toEqual([drawn(5), undefined, drawn(7)]);
});

test('an invalid line is named and not given', async () => {
  const { generations: first } = await opened('wrong', 0);
  first.keep('a', { ...drawn(5), logProbs: [Number.NaN] });
  first.keep('b', drawn(6));
  const { generations, unreadable } = await opened('wrong', 0);
  expect(unreadable).toEqual([`${join(root, 'wrong', 'after-0-0.jsonl')}:1`]);
  expect([generations.take('a'), generations.take('b')]).toEqual([undefined, drawn(6)]);
});

test('generations before the oldest checkpoint are deleted', async () => {
  const folder = join(root, 'pruned');
  const { generations } = await opened('pruned', 0);
  generations.keep('a', drawn(5));
  generations.checkpointed(1, 1);
  generations.keep('b', drawn(6));
  generations.checkpointed(2, 1);
  generations.keep('c', drawn(7));
  expect(readdirSync(folder).toSorted()).toEqual(['after-1-0.jsonl', 'after-2-0.jsonl']);
  const { generations: later } = await opened('pruned', 1);
  const taken = ['a', 'b', 'c'].map((name) => later.take(name));
  expect(taken).toEqual([undefined, drawn(6), drawn(7)]);
});

test('generations that are not to be kept are deleted, and a run that has ended leaves none', async () => {
  const { generations: first } = await opened('other', 0);
  first.keep('a', drawn(5));
  const { generations: second } = await opened('other', 0, false);
  expect(second.take('a')).toBeUndefined();
  second.close();
  second.delete();
  expect(existsSync(join(root, 'other'))).toBe(false);
});
