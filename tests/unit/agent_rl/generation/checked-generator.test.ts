import { describe, expect, test } from '@jest/globals';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import type { Generation, Generator, GeneratorInfo } from '#agent_rl/core/services/generator.ts';
import { CheckedGenerator } from '#agent_rl/generation/checked-generator.ts';
import { request as requestOf } from '#tests/support/generation-request.ts';
import { errorOf, expectRejection, rejectionOf } from '#tests/support/thrown.ts';

const request = requestOf('e', { maxTokens: 3, stopTokens: [9] });
const good: Generation = { tokens: [4, 9], logProbs: [-1, 0], stop: 'stop-token', version: 0 };
const info: GeneratorInfo = {
  name: 'mine',
  maxContextTokens: 64,
  reproducible: true,
  takes: ['folder'],
};
const generator = (over: Partial<Record<keyof Generator, unknown>> = {}): Generator =>
  ({
    describe: async () => info,
    generate: async () => good,
    release: () => undefined,
    use: async () => undefined,
    close: async () => undefined,
    ...over,
  }) as Generator;
const open = (inner: unknown) =>
  CheckedGenerator.open(async () => inner as Generator, {
    plugin: 'Generator "mine"',
    vocabSize: 10,
  });
const answering = async (answer: unknown) =>
  rejectionOf((await open(generator({ generate: async () => answer }))).generate(request));

describe('A checked generator', () => {
  test('passes a correct generator through unchanged', async () => {
    const checked = await open(generator());
    expect(await checked.describe()).toEqual(info);
    expect(await checked.generate(request)).toEqual(good);
    expect(checked.totals).toBeUndefined();
  });

  test.each([
    [undefined, 'the answer is nothing; expected an object'],
    [{ ...good, tokens: 'ab' }, 'tokens is "ab"; expected a list of token ids'],
    [{ ...good, tokens: [4, 10] }, 'tokens[1] is 10; expected a whole number from 0 to 9'],
    [{ ...good, tokens: [4, 5, 6, 9] }, 'tokens has 4 ids; expected at most maxTokens = 3'],
    [{ ...good, logProbs: [-1, Number.NaN] }, 'logProbs[1] is NaN; expected a finite number'],
    [{ ...good, logProbs: [0.5, -1] }, 'logProbs[0] is 0.5; expected a finite number of at most 0'],
    [{ ...good, stop: 'length' }, 'stop is "length"; expected one of stop-token, max-tokens,'],
    [{ ...good, tokens: [4, 5] }, 'stop is stop-token, but the last token is 5; expected one of'],
    [{ ...good, version: undefined }, 'version is nothing; expected a whole number'],
  ])('refuses the answer %p and says what is allowed', async (answer, problem) => {
    const message = `Generator "mine", generate(): ${problem}`;
    expect(await answering(answer)).toMatchObject(errorOf('GENERATION_FAILED', message));
  });

  const sequences = [Int32Array.of(1, 2), Int32Array.of(3)];
  const scoring = { temperature: 1 };
  const row = (...values: number[]) => Float32Array.from(values);
  const likeliest = (length: number, size: number) => ({
    logProbs: row(...Array.from({ length }, () => -1)),
    top: { topK: 2, ids: new Int32Array(size), logProbs: new Float32Array(size) },
  });

  test('passes scores on, and has no method that the generator lacks', async () => {
    const rows = [row(0, -1), row(0)];
    const tops = [likeliest(2, 4), likeliest(1, 2)];
    const inner = { score: async () => rows, scoreTop: async () => tops };
    const checked = await open(generator(inner));
    expect(await checked.score!(sequences, scoring)).toBe(rows);
    expect(await checked.scoreTop!(sequences, { ...scoring, topK: 2 })).toBe(tops);
    const without = await open(generator());
    expect([without.score, without.scoreTop]).toEqual([undefined, undefined]);
  });

  test.each([
    [[row(0, -1)], 'score(): list 1 has no numbers; expected 1'],
    [[row(0), row(0)], 'score(): list 0 has 1 numbers; expected 2'],
    [[row(0, Number.NaN), row(0)], 'score(): list 0 has NaN at 1; expected a finite number'],
    [[row(0, -Infinity), row(0)], 'score(): list 0 has -Infinity at 1'],
  ])('refuses the scores %p', async (rows, problem) => {
    const checked = await open(generator({ score: async () => rows }));
    const asked = checked.score!(sequences, scoring);
    await expectRejection(asked, 'GENERATION_FAILED', `Generator "mine", ${problem}`);
  });

  test('refuses fewer likeliest tokens than requested', async () => {
    const tops = [likeliest(2, 4), likeliest(1, 1)];
    const checked = await open(generator({ scoreTop: async () => tops }));
    const asked = checked.scoreTop!(sequences, { ...scoring, topK: 2 });
    const problem = 'scoreTop(): list 4 has 1 numbers; expected 2';
    await expectRejection(asked, 'GENERATION_FAILED', problem);
  });

  test('requires the version of the weights it was last given', async () => {
    const checked = await open(generator());
    await checked.use({ version: 3, kind: 'folder', location: 'x' });
    const thrown = await rejectionOf(checked.generate(request));
    expect(thrown.message).toContain('version is 0; expected 3');
  });

  test('cannot receive weights without the method use', async () => {
    const checked = await open(generator({ use: undefined }));
    const message = 'takes is ["folder"], but the generator has no method use';
    await expectRejection(checked.describe(), 'PLUGIN_LOAD_FAILED', message);
  });

  test.each([
    [undefined, 'it is nothing'],
    [{ ...info, name: ' ' }, 'name is " "'],
    [{ ...info, reproducible: undefined }, 'reproducible is nothing'],
    [{ ...info, takes: ['http'] }, 'takes is ["http"]'],
  ])('refuses the description %p', async (said, problem) => {
    const checked = await open(generator({ describe: async () => said }));
    const message = `Generator "mine", describe(): ${problem}; expected`;
    await expectRejection(checked.describe(), 'PLUGIN_LOAD_FAILED', message);
  });

  test('refuses an object without the required methods', async () => {
    const thrown = await rejectionOf(open({ generate: () => good }));
    const message = 'lacks the methods describe, release, close';
    expect(thrown).toMatchObject(errorOf('PLUGIN_LOAD_FAILED', message));
  });

  test('adds plugin, method and place to a thrown error', async () => {
    const fails = async () => {
      throw new Error('no server');
    };
    const checked = await open(generator({ generate: fails, use: fails }));
    for (const [method, work] of [
      ['generate', checked.generate(request)],
      ['use', checked.use({ version: 1, kind: 'folder', location: 'x' })],
    ] as const) {
      const place = String.raw`\(.*checked-generator\.test\.ts:\d+:\d+\)`;
      const message = new RegExp(`^Generator "mine" failed in ${method} ${place}: no server$`);
      expect(await rejectionOf(work)).toMatchObject(errorOf('GENERATION_FAILED', message));
    }
    const opening = CheckedGenerator.open(fails, { plugin: 'Generator "mine"', vocabSize: 10 });
    expect(await rejectionOf(opening)).toMatchObject({ code: 'GENERATION_FAILED' });
  });

  test('passes an AgentRlError on unchanged', async () => {
    const ours = new AgentRlError('CONFIG_INVALID', 'generator.url is missing.');
    const checked = await open(generator({ generate: () => Promise.reject(ours) }));
    expect(await rejectionOf(checked.generate(request))).toBe(ours);
  });
});
