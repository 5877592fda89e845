import { expect, test } from '@jest/globals';

import { type Generation, type Generator, unbiased } from '#agent_rl/core/services/generator.ts';
import type { GenerationJournal } from '#agent_rl/core/services/journal.ts';
import { RecordingGenerator } from '#agent_rl/generation/recording/recording-generator.ts';
import { request as requestOf } from '#tests/support/generation-request.ts';

/** Draws another token each time. */
function counting(stop: Generation['stop'] = 'max-tokens'): Generator & { draws: number } {
  let version = 0;
  return {
    draws: 0,
    describe: () => Promise.reject(new Error('Nothing asks.')),
    async generate() {
      this.draws += 1;
      return { tokens: [this.draws], logProbs: [-0.1], stop, version };
    },
    release: () => undefined,
    use: async (weights) => {
      version = weights.version;
    },
    close: async () => undefined,
  };
}

function journalInMemory(): GenerationJournal & { kept: Map<string, Generation> } {
  const kept = new Map<string, Generation>();
  return {
    kept,
    drawn: (_, asked) => kept.get(asked),
    draw: (_, asked, drawn) => void kept.set(asked, drawn),
  };
}

const request = requestOf('1/0/t/0', { tokens: [1, 2], maxTokens: 1 });

const folder = { version: 4, kind: 'folder', location: '/weights' } as const;

function recorded(journal = journalInMemory(), inner = counting()) {
  const generator = new RecordingGenerator(inner);
  generator.recordIn(journal);
  return { generator, journal, inner };
}

test('a recorded request is answered from the journal, and nothing is drawn', async () => {
  const before = recorded();
  await before.generator.use(folder);
  const drawn = await before.generator.generate(request);
  const after = recorded(before.journal);
  await after.generator.use(folder);
  expect(await after.generator.generate({ ...request })).toEqual(drawn);
  expect(after.inner.draws).toBe(0);
});

test.each([
  ['another context', { tokens: [1, 3] }],
  ['another key', { key: { ...request.key, sample: 1 } }],
  ['another temperature', { sampling: { ...unbiased, temperature: 0.5 } }],
  ['another limit', { maxTokens: 2 }],
  ['another stop token', { stopTokens: [7] }],
])('%s is another request', async (_, other) => {
  const { generator, journal } = recorded();
  await generator.generate(request);
  await generator.generate({ ...request, ...other });
  expect(journal.kept.size).toBe(2);
});

test('a request of an episode of another name is the same request', async () => {
  const { generator, inner } = recorded();
  const drawn = await generator.generate(request);
  expect(await generator.generate({ ...request, episode: 'another' })).toEqual(drawn);
  expect(inner.draws).toBe(1);
});

test('log-probabilities are given as they are recorded, in float32', async () => {
  const { generator, journal } = recorded();
  const drawn = await generator.generate(request);
  expect(drawn.logProbs).toEqual([Math.fround(-0.1)]);
  expect([...journal.kept.values()]).toEqual([drawn]);
});

test('an episode that goes on from recorded answers is begun with its first context', async () => {
  const { journal, generator: before } = recorded();
  await before.generate(request);
  const openings: unknown[] = [];
  const inner = counting();
  const noting: Generator = {
    ...inner,
    generate: (asked) => {
      openings.push(asked.opening);
      return inner.generate(asked);
    },
  };
  const { generator } = recorded(journal, Object.assign(noting, { draws: 0 }));
  const next = { ...request, tokens: [1, 2, 7, 8] };
  await generator.generate(request);
  await generator.generate(next);
  generator.release(request.episode);
  await generator.generate({ ...next, maxTokens: 3 });
  expect(openings).toEqual([2, 4]);
});

test('an answer is given once it is recorded', async () => {
  let written = (): void => undefined;
  const draw = () => new Promise<void>((resolve) => (written = resolve));
  const { generator } = recorded({ ...journalInMemory(), draw });
  let isGiven = false;
  const answer = generator.generate(request).then(() => (isGiven = true));
  await new Promise(setImmediate);
  expect(isGiven).toBe(false);
  written();
  expect(await answer).toBe(true);
});

test('other weights draw again', async () => {
  const { generator } = recorded();
  await generator.generate(request);
  await generator.use(folder);
  expect(await generator.generate(request)).toMatchObject({ tokens: [2], version: 4 });
});

test('an aborted draw is not recorded', async () => {
  const { generator, journal } = recorded(journalInMemory(), counting('aborted'));
  await generator.generate(request);
  expect(journal.kept.size).toBe(0);
});

test('the scorer of weights reaches the inner generator', async () => {
  const given: unknown[] = [];
  const inner = { ...counting(), use: async (...all: unknown[]) => void given.push(...all) };
  const { signal } = new AbortController();
  const scorer = { score: async () => [] };
  await new RecordingGenerator(inner).use(folder, signal, scorer);
  expect(given).toEqual([folder, signal, scorer]);
});
