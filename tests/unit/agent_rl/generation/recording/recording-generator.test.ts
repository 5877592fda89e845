import { expect, test } from '@jest/globals';

import { type Generation, type Generator, unbiased } from '#agent_rl/core/services/generator.ts';
import {
  type GenerationRecord,
  RecordingGenerator,
} from '#agent_rl/generation/recording/recording-generator.ts';
import { request as requestOf } from '#tests/support/generation-request.ts';

/** Draws another token each time. */
function counting(stop: Generation['stop'] = 'max-tokens'): Generator & { draws: number } {
  let version = 0;
  return {
    draws: 0,
    describe: () => Promise.reject(new Error('Nothing asks.')),
    async generate() {
      this.draws += 1;
      return { tokens: [this.draws], logProbs: [-1], stop, version };
    },
    release: () => undefined,
    use: async (weights) => {
      version = weights.version;
    },
    close: async () => undefined,
  };
}

function recordInMemory(): GenerationRecord & { kept: Map<string, Generation> } {
  const kept = new Map<string, Generation>();
  return {
    kept,
    take: (asked) => kept.get(asked),
    keep: (asked, drawn) => void kept.set(asked, drawn),
  };
}

const request = requestOf('1/0/t/0', { tokens: [1, 2], maxTokens: 1 });

const folder = { version: 4, kind: 'folder', location: '/weights' } as const;

function recorded(record = recordInMemory(), inner = counting()) {
  const generator = new RecordingGenerator(inner);
  generator.recordIn(record);
  return { generator, record, inner };
}

test('a recorded request is answered from the record, and nothing is drawn', async () => {
  const before = recorded();
  await before.generator.use(folder);
  const drawn = await before.generator.generate(request);
  const after = recorded(before.record);
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
  const { generator, record } = recorded();
  await generator.generate(request);
  await generator.generate({ ...request, ...other });
  expect(record.kept.size).toBe(2);
});

test('other weights draw again', async () => {
  const { generator } = recorded();
  await generator.generate(request);
  await generator.use(folder);
  expect(await generator.generate(request)).toMatchObject({ tokens: [2], version: 4 });
});

test('an aborted draw is not recorded', async () => {
  const { generator, record } = recorded(recordInMemory(), counting('aborted'));
  await generator.generate(request);
  expect(record.kept.size).toBe(0);
});

test('the scorer of weights reaches the inner generator', async () => {
  const given: unknown[] = [];
  const inner = { ...counting(), use: async (...all: unknown[]) => void given.push(...all) };
  const { signal } = new AbortController();
  const scorer = { score: async () => [] };
  await new RecordingGenerator(inner).use(folder, signal, scorer);
  expect(given).toEqual([folder, signal, scorer]);
});
