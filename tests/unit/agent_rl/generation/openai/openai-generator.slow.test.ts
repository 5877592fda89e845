import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { describeGeneratorContract } from '#tests/contracts/generator-contract.ts';
import { cutBody, gigabyte, slowBody } from '#tests/support/hostile-answers.ts';
import type { DoubleAnswer, GotRequest } from '#tests/support/http-double.ts';
import { OpenaiDouble, type OpenaiDoubleOptions } from '#tests/support/openai/openai-double.ts';
import type { ServerKind } from '#tests/support/openai/openai-exchanges.ts';
import { openedOpenai } from '#tests/support/openai/opened-openai.ts';
import { ScoredModel } from '#tests/support/scored-model.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
import { request } from '#tests/support/vllm/opened-vllm.ts';

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

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});
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

describe('what a server answers in place of a generation', () => {
  test.each<[ServerKind, string, DoubleAnswer, RegExp]>([
    ['vllm', 'no JSON', (response) => response.end('<html>'), /it is nothing/],
    ['vllm', 'no ids', vllm({ token_ids: null }), /token_ids is null/],
    ['vllm', 'no log-probabilities', vllm({ logprobs: null }), /logprobs null/],
    [
      'vllm',
      'an id beyond the vocabulary',
      vllm({ token_ids: [5, 5, 5, 5, 5, 1024] }, { tokens: [] }),
      /tokens\[5\] is 1024; expected a whole number from 0 to 1023/,
    ],
    [
      'vllm',
      'more tokens than asked for',
      vllm({ token_ids: [...six(5), 5] }, { token_logprobs: [...six(-1), -1] }),
      /tokens has 7 ids; expected at most maxTokens = 6/,
    ],
    [
      'vllm',
      'fewer tokens than it says',
      vllm({ token_ids: [5] }, { token_logprobs: [-1], tokens: [] }),
      /ended for length after 1 of 6 tokens/,
    ],
    [
      'vllm',
      'a log-probability that is no number',
      vllm({}, { token_logprobs: six(null) }),
      /logProbs\[0\] is null/,
    ],
    [
      'vllm',
      'a log-probability above 0',
      vllm({}, { token_logprobs: six(0.5) }),
      /logProbs\[0\] is 0\.5/,
    ],
    [
      'vllm',
      'too few log-probabilities',
      vllm({}, { token_logprobs: [-1] }),
      /6 ids and 1 log-probabilities/,
    ],
    [
      'vllm',
      'log-probabilities of other tokens',
      vllm({}, { tokens: six('token_id:6') }),
      /in place 0 is of "token_id:6"; the token there is 5/,
    ],
    [
      'vllm',
      'an end before any token',
      vllm({ finish_reason: 'stop', token_ids: [] }, { token_logprobs: [], tokens: [] }),
      /ended by itself before any token/,
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
      /counts 2 tokens of context; sent were 3/,
    ],
    ['vllm', 'a gigabyte', gigabyte, /cannot be asked/],
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
      'ids that are none',
      llamaCpp({ tokens: six('x'), completion_probabilities: six({ id: 'x', logprob: -1 }) }),
      /tokens\[0\] is "x"/,
    ],
    [
      'llama-cpp',
      'more tokens than asked for',
      llamaCpp({ tokens: [...six(5), 5] }),
      /tokens has 7 ids/,
    ],
    [
      'llama-cpp',
      'log-probabilities of other tokens',
      llamaCpp({ completion_probabilities: six({ id: 6, logprob: -1 }) }),
      /are of tokens \[6,6,6,6,6,6\], and it drew \[5,5,5,5,5,5\]/,
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
    ['llama-cpp', 'a gigabyte', gigabyte, /cannot be asked/],
  ])(
    '%s, %s: it is asked for again, and the episode fails after three',
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

  test.each(kinds)('%s, another model: nothing of it is used', async (kind) => {
    const { double, generator } = await started(kind);
    const answer =
      kind === 'vllm' ? vllm({}, {}, { model: 'other' }) : llamaCpp({ model: 'other' });
    double.instead = (asked) => (generates(asked) ? answer : undefined);
    const thrown = await rejectionOf(generator.generate(request('one')));
    expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
    expect(String(thrown)).toMatch(/answers as model other/);
  });

  test.each(kinds)(
    '%s, a body that comes too slowly: the request ends at its deadline',
    async (kind) => {
      const { double, generator } = await started(kind, { deadlineS: 0.5 });
      double.instead = (asked) => (generates(asked) ? slowBody : undefined);
      const thrown = await rejectionOf(generator.generate(request('one')));
      expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
      expect(String(thrown)).toMatch(/no answer within 0\.5 s/);
    },
  );

  test.each(kinds)(
    '%s, a body that is cut short: asked again, the same key gives the same tokens',
    async (kind) => {
      const { double, generator, warnings } = await started(kind);
      const usual = await generator.generate(request('one'));
      let count = 0;
      double.instead = (asked) => (generates(asked) && ++count === 1 ? cutBody : undefined);
      expect(await generator.generate(request('one'))).toEqual(usual);
      expect(warnings.length).toBeGreaterThan(0);
    },
  );
});

describe('the server of llama.cpp', () => {
  const model = new ScoredModel(0, 1024);
  const context = [1, 2, 3];
  const asked = (over: object = {}) => request('one', { tokens: context, maxTokens: 12, ...over });
  /** What the model gives each token. */
  const scored = (tokens: readonly number[], temperature: number) =>
    tokens.map(
      (token, i) => model.logProbs([...context, ...tokens.slice(0, i)], temperature)[token],
    );

  test.each([1, 0.5])(
    'gives every log-probability at temperature %d, those it leaves out too',
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

  test('draws on behind a stop token that it does not know: what follows is cut off, and the log says so once', async () => {
    const { generator, warnings } = await started('llama-cpp');
    const { tokens } = await generator.generate(asked());
    const stopTokens = [tokens[4]!];
    const length = tokens.indexOf(tokens[4]!) + 1;
    for (const _ of [1, 2]) {
      const cut = await generator.generate(asked({ stopTokens }));
      expect(cut).toMatchObject({ tokens: tokens.slice(0, length), stop: 'stop-token' });
      expect(cut.logProbs).toHaveLength(length);
    }
    expect(warnings).toEqual([expect.stringContaining(`draws on behind token ${stopTokens[0]}`)]);
  });

  test('ends at a token that ends no turn of the run: what follows is asked for', async () => {
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

  test('ends where the run does at a token that both know', async () => {
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
