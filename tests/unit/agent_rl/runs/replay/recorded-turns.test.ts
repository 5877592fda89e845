import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { type GenerationRequest, unbiased } from '#agent_rl/core/services/generator.ts';
import { RecordedTurns } from '#agent_rl/runs/replay/recorded-turns.ts';
import type { Rollout } from '#agent_rl/core/rollout.ts';
import type { TranscriptRecord } from '#agent_rl/core/transcript.ts';
import { writeJournal } from '#tests/support/journal.ts';
import { played } from '#tests/support/rollouts.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const root = temporaryFolder();

const sequenceOf = (version: number): TranscriptRecord => ({
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
function cut(tokens: number, spans: number): TranscriptRecord {
  const whole = sequenceOf(0);
  return {
    tokens: whole.tokens.slice(0, tokens),
    logProbs: whole.logProbs.slice(0, tokens),
    spans: whole.spans.slice(0, spans),
  };
}

const episode = (
  version: number,
  outcome: Rollout['outcome'] = 'completed',
  sequences = [sequenceOf(version)],
): Rollout => {
  const place = { when: 'train', iteration: 1 + version, sample: 1, seed: 9 } as const;
  return played({ ...place, step: version, sequences, outcome });
};

/** The turns of a run that recorded these episodes. */
function read(...rollouts: readonly Rollout[]): Promise<RecordedTurns> {
  writeJournal(join(root, 'run'), { rollouts });
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
  const system = await read(episode(0, 'infrastructure-error', [cut(5, 3)]));
  expect(system.find(asked([1, 2, 50, 60, 3]), 0)).toEqual({ why: 'failed' });
  const turns = await read(episode(0, 'infrastructure-error', [cut(4, 2)]));
  expect(turns.find(asked([1, 2, 50, 60, 3]), 0)).toEqual({ why: 'failed' });
  expect(turns.find(asked([1, 2, 50, 61, 3]), 0)).toEqual({ why: 'other-context' });
});

test('each sequence of a part is looked through', async () => {
  const other = { ...cut(2, 1), tokens: [9, 9] };
  const turns = await read(episode(0, 'completed', [other, sequenceOf(0)]));
  expect(turns.find(asked([1, 2]), 0)).toMatchObject({ turn: { tokens: [50, 60] } });
});

test('a folder that is no run is refused', async () => {
  const { code } = await rejectionOf(RecordedTurns.read(join(root, 'nothing')));
  expect(code).toBe('CHECKPOINT_INVALID');
});
