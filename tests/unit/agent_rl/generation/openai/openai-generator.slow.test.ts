import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { describeGeneratorContract } from '#tests/contracts/generator-contract.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { request } from '#tests/support/generation-request.ts';
import type { DoubleAnswer, GotRequest } from '#tests/support/http-double.ts';
import { OpenaiDouble, type OpenaiDoubleOptions } from '#tests/support/openai/openai-double.ts';
import type { ServerKind } from '#tests/support/openai/openai-exchanges.ts';
import { openedOpenai } from '#tests/support/openai/opened-openai.ts';
import { ScoredModel } from '#tests/support/scored-model.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const kinds: readonly ServerKind[] = ['vllm', 'llama-cpp'];
const contracts = new Map<ServerKind, OpenaiDouble>();
beforeAll(async () => {
  for (const kind of kinds) contracts.set(kind, await OpenaiDouble.start(kind));
});
afterAll(async () => {
  for (const double of contracts.values()) await double.close();
});
for (const kind of kinds)
  describeGeneratorContract(`openai on ${kind}`, {
    open: async () => (await openedOpenai([contracts.get(kind)!.url])).generator,
    vocabSize: 1024,
  });

const open = closedAfterEach();
async function started(kind: ServerKind, settings = {}, options: OpenaiDoubleOptions = {}) {
  const double = await OpenaiDouble.start(kind, options);
  const { generator, warnings } = await openedOpenai([double.url], settings);
  open.push(double, generator);
  warnings.length = 0;
  return { double, generator, warnings };
}
const generates = ({ path }: GotRequest) => path === '/v1/completions' || path === '/completion';
const six = <Value>(value: Value): Value[] => Array.from({ length: 6 }, () => value);

/** An answer of each kind to a request for six tokens, with something wrong in it. */
const vllm = (over: object = {}, logprobs: object = {}, answer: object = {}): DoubleAnswer => ({
  status: 200,
  json: {
    model: 'starter',
    usage: { prompt_tokens: 3 },
    choices: [
      {
        finish_reason: 'length',
        token_ids: six(5),
        logprobs: { token_logprobs: six(-1), tokens: six('token_id:5'), ...logprobs },
        ...over,
      },
    ],
    ...answer,
  },
});
const llamaCpp = (over: object = {}): DoubleAnswer => ({
  status: 200,
  json: {
    model: 'smollm2',
    tokens: six(5),
    completion_probabilities: six({ id: 5, logprob: -1 }),
    stop_type: 'limit',
    tokens_evaluated: 3,
    ...over,
  },
});

describe('The generator handles unusable answers', () => {
  test.each<[ServerKind, string, DoubleAnswer, RegExp]>([
    ['vllm', 'no JSON', (response) => response.end('<html>'), /it is nothing/],
    ['vllm', 'no ids', vllm({ token_ids: null }), /token_ids is null/],
    ['vllm', 'no log-probabilities', vllm({ logprobs: null }), /logprobs null/],
    [
      'vllm',
      'too few log-probabilities',
      vllm({}, { token_logprobs: [-1] }),
      /6 ids but 1 log-probabilities/,
    ],
    [
      'vllm',
      'log-probabilities of other tokens',
      vllm({}, { tokens: six('token_id:6') }),
      /position 0 .* "token_id:6", .* 5/,
    ],
    [
      'vllm',
      'an end before any token',
      vllm({ finish_reason: 'stop', token_ids: [] }, { token_logprobs: [], tokens: [] }),
      /before the first token/,
    ],
    [
      'vllm',
      'another end',
      vllm({ finish_reason: 'content_filter' }),
      /finish_reason is "content_filter"/,
    ],
    [
      'vllm',
      'another context',
      vllm({}, {}, { usage: { prompt_tokens: 2 } }),
      /counts 2 tokens of context, but 3 were sent/,
    ],
    ['llama-cpp', 'no JSON', (response) => response.end('<html>'), /it is nothing/],
    ['llama-cpp', 'no ids', llamaCpp({ tokens: undefined }), /tokens is nothing/],
    [
      'llama-cpp',
      'no log-probabilities',
      llamaCpp({ completion_probabilities: undefined }),
      /logProbs\[0\] is NaN/,
    ],
    [
      'llama-cpp',
      'ids that are not numbers',
      llamaCpp({ tokens: six('x'), completion_probabilities: six({ id: 'x', logprob: -1 }) }),
      /tokens\[0\] is "x"/,
    ],
    [
      'llama-cpp',
      'log-probabilities of other tokens',
      llamaCpp({ completion_probabilities: six({ id: 6, logprob: -1 }) }),
      /tokens \[6,6,6,6,6,6\], but it drew \[5,5,5,5,5,5\]/,
    ],
    [
      'llama-cpp',
      'a log-probability that is no number',
      llamaCpp({ completion_probabilities: six({ id: 5, logprob: null }) }),
      /logProbs\[0\] is null/,
    ],
    [
      'llama-cpp',
      'a probability of 0',
      llamaCpp({ completion_probabilities: six({ id: 5, prob: 0 }) }),
      /logProbs\[0\] is -Infinity/,
    ],
    ['llama-cpp', 'another end', llamaCpp({ stop_type: 'word' }), /stop_type is "word"/],
    [
      'llama-cpp',
      'another context',
      llamaCpp({ tokens_evaluated: 2 }),
      /counts 2 tokens of context/,
    ],
  ])(
    '%s, %s: it retries, and the episode fails after three answers',
    async (kind, _, answer, words) => {
      const { double, generator, warnings } = await started(kind);
      double.instead = (asked) => (generates(asked) ? answer : undefined);
      const thrown = await rejectionOf(generator.generate(request('one')));
      expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
      expect(String(thrown)).toMatch(words);
      expect(warnings).toHaveLength(2);
      double.instead = undefined;
      expect((await generator.generate(request('one'))).tokens).toHaveLength(6);
    },
  );

  test.each(kinds)('%s, another model: it uses none of the answer', async (kind) => {
    const { double, generator } = await started(kind);
    const answer =
      kind === 'vllm' ? vllm({}, {}, { model: 'other' }) : llamaCpp({ model: 'other' });
    double.instead = (asked) => (generates(asked) ? answer : undefined);
    const thrown = await rejectionOf(generator.generate(request('one')));
    expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
    expect(String(thrown)).toMatch(/model other/);
  });
});

describe('The generator on llama.cpp', () => {
  const model = new ScoredModel(0, 1024);
  const context = [1, 2, 3];
  const asked = (over: object = {}) => request('one', { tokens: context, maxTokens: 12, ...over });
  /** What the model gives each token. */
  const scored = (tokens: readonly number[], temperature: number) =>
    tokens.map(
      (token, i) => model.logProbs([...context, ...tokens.slice(0, i)], temperature)[token],
    );

  test.each([1, 0.5])(
    'returns every log-probability at temperature %d, also those the server omits',
    async (temperature) => {
      const sampling = { ...request('one').sampling, temperature };
      const plain = await started('llama-cpp');
      const { tokens } = await plain.generator.generate(asked({ sampling }));
      // Three in a row and the last.
      const halves = [...tokens.slice(3, 6), tokens.at(-1)!];
      const { double, generator } = await started('llama-cpp', {}, { halves });
      const made = await generator.generate(asked({ sampling }));
      expect(made.tokens).toEqual(tokens);
      for (const [i, logProb] of scored(tokens, temperature).entries())
        expect(made.logProbs[i]).toBeCloseTo(logProb!, 9);
      const lists = double.server.requests.filter(({ body }) => 'logit_bias' in body);
      expect(lists.length).toBeGreaterThanOrEqual(halves.length);
    },
  );

  test('cuts tokens after a stop token that the server does not know, with one note in the log', async () => {
    const { generator, warnings } = await started('llama-cpp');
    const { tokens } = await generator.generate(asked());
    const stopTokens = [tokens[4]!];
    const length = tokens.indexOf(tokens[4]!) + 1;
    for (const _ of [1, 2]) {
      const cut = await generator.generate(asked({ stopTokens }));
      expect(cut).toMatchObject({ tokens: tokens.slice(0, length), stop: 'stop-token' });
      expect(cut.logProbs).toHaveLength(length);
    }
    expect(warnings).toEqual([expect.stringContaining(`after token ${stopTokens[0]}`)]);
  });

  test('continues after a token that ends no turn of the run', async () => {
    const plain = await started('llama-cpp');
    const { tokens } = await plain.generator.generate(asked());
    const endsOfText = [tokens[4]!];
    const first = tokens.indexOf(tokens[4]!) + 1;
    const { double, generator } = await started('llama-cpp', {}, { endsOfText });
    const made = await generator.generate(asked());
    expect(made.tokens.slice(0, first)).toEqual(tokens.slice(0, first));
    expect([made.tokens.length, made.stop]).toEqual([12, 'max-tokens']);
    expect(made.logProbs).toEqual(scored(made.tokens, 1));
    const [, next] = double.server.requests.filter(
      ({ body }) => body['n_predict'] !== 1 && 'return_tokens' in body,
    );
    expect(next?.body).toMatchObject({
      prompt: [...context, ...made.tokens.slice(0, first)],
      n_predict: 12 - first,
    });
  });

  test('ends a turn at a token that both know', async () => {
    const plain = await started('llama-cpp');
    const { tokens } = await plain.generator.generate(asked());
    const ends = [tokens[4]!];
    const { generator, warnings } = await started('llama-cpp', {}, { endsOfText: ends });
    const made = await generator.generate(asked({ stopTokens: ends }));
    expect(made).toMatchObject({
      tokens: tokens.slice(0, tokens.indexOf(ends[0]!) + 1),
      stop: 'stop-token',
    });
    expect(warnings).toEqual([]);
  });
});
