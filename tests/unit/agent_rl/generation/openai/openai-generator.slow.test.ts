import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { unbiased } from '#agent_rl/core/services/generator.ts';
import { describeGeneratorContract } from '#tests/contracts/generator-contract.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { request } from '#tests/support/generation-request.ts';
import type { DoubleAnswer, GotRequest } from '#tests/support/http-double.ts';
import { OpenaiDouble, type OpenaiDoubleOptions } from '#tests/support/openai/openai-double.ts';
import { capturedOpenai, type ServerKind } from '#tests/support/openai/openai-exchanges.ts';
import { openedOpenai } from '#tests/support/openai/opened-openai.ts';
import { ScoredModel } from '#tests/support/scored-model.ts';
import { expectRejection } from '#tests/support/thrown.ts';

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
    scores: kind === 'vllm',
  });

const open = closedAfterEach();
const cold = { ...unbiased, temperature: 0.7 };

async function serving(kind: ServerKind, options: OpenaiDoubleOptions = {}): Promise<OpenaiDouble> {
  const double = await OpenaiDouble.start(kind, options);
  open.push(double);
  return double;
}
async function opened(...asked: Parameters<typeof openedOpenai>) {
  const { generator, warnings } = await openedOpenai(...asked);
  open.push(generator);
  return { generator, warnings };
}
async function started(kind: ServerKind, settings = {}, options: OpenaiDoubleOptions = {}) {
  const double = await serving(kind, options);
  const { generator, warnings } = await opened([double.url], settings);
  warnings.length = 0;
  return { double, generator, warnings };
}
const generates = ({ path }: GotRequest) => path === '/v1/completions' || path === '/completion';
const six = <Value>(value: Value): Value[] => Array.from({ length: 6 }, () => value);

const withLogProbs = (changed: object) => ({
  logprobs: { token_logprobs: six(-1), tokens: six('token_id:5'), ...changed },
});
/** An answer of each kind to a request for six tokens, with something wrong in it. */
const vllm = (over: object = {}, logprobs: object = {}, answer: object = {}): DoubleAnswer => ({
  status: 200,
  json: {
    model: 'starter',
    usage: { prompt_tokens: 3 },
    choices: [{ finish_reason: 'length', token_ids: six(5), ...withLogProbs(logprobs), ...over }],
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

const empty = { finish_reason: 'stop', token_ids: [] };
const noLogProbs = { token_logprobs: [], tokens: [] };
const scored = (entry: object | undefined): DoubleAnswer =>
  llamaCpp({ completion_probabilities: entry && six(entry) });

describe('The generator handles unusable answers', () => {
  const noJson: DoubleAnswer = (response) => response.end('<html>');
  test.each<[ServerKind, string, DoubleAnswer, RegExp]>([
    ['vllm', 'no JSON', noJson, /it is nothing/],
    ['vllm', 'no ids', vllm({ token_ids: null }), /token_ids is null/],
    ['vllm', 'no log-probabilities', vllm({ logprobs: null }), /logprobs is null/],
    ['vllm', 'too few', vllm({}, { token_logprobs: [-1] }), /6 ids but 1 log-probabilities/],
    ['vllm', 'other tokens', vllm({}, { tokens: six('token_id:6') }), /position 0 .* "token_id:6"/],
    ['vllm', 'an end before any token', vllm(empty, noLogProbs), /before the first token/],
    ['vllm', 'another end', vllm({ finish_reason: 'content_filter' }), /is "content_filter"/],
    ['vllm', 'another context', vllm({}, {}, { usage: { prompt_tokens: 2 } }), /counts 2 tokens/],
    ['llama-cpp', 'no JSON', noJson, /it is nothing/],
    ['llama-cpp', 'no ids', llamaCpp({ tokens: undefined }), /tokens is nothing/],
    ['llama-cpp', 'no log-probabilities', scored(undefined), /logProbs\[0\] is NaN/],
    ['llama-cpp', 'other tokens', scored({ id: 6, logprob: -1 }), /tokens \[6,6,6,6,6,6\], but/],
    ['llama-cpp', 'no number', scored({ id: 5, logprob: null }), /logProbs\[0\] is null/],
    ['llama-cpp', 'a probability of 0', scored({ id: 5, prob: 0 }), /logProbs\[0\] is -Infinity/],
    ['llama-cpp', 'another end', llamaCpp({ stop_type: 'word' }), /stop_type is "word"/],
    ['llama-cpp', 'another context', llamaCpp({ tokens_evaluated: 2 }), /counts 2 tokens/],
  ])('%s, %s: it retries and fails after three answers', async (kind, _, answer, words) => {
    const { double, generator, warnings } = await started(kind);
    double.instead = (asked) => (generates(asked) ? answer : undefined);
    await expectRejection(generator.generate(request('one')), 'GENERATION_FAILED', words);
    expect(warnings).toHaveLength(2);
    double.instead = undefined;
    expect((await generator.generate(request('one'))).tokens).toHaveLength(6);
  });

  test.each(kinds)('%s, another model: it uses none of the answer', async (kind) => {
    const { double, generator } = await started(kind);
    const answer =
      kind === 'vllm' ? vllm({}, {}, { model: 'other' }) : llamaCpp({ model: 'other' });
    double.instead = (asked) => (generates(asked) ? answer : undefined);
    await expectRejection(generator.generate(request('one')), 'GENERATION_FAILED', /model other/);
  });
});

describe('The generator on llama.cpp', () => {
  const model = new ScoredModel(0, 1024);
  const context = [1, 2, 3];
  const asked = (over: object = {}) => request('one', { tokens: context, maxTokens: 12, ...over });
  /** What the model gives each token. */
  const logProbsOf = (tokens: readonly number[], temperature: number) =>
    tokens.map(
      (token, i) => model.logProbs([...context, ...tokens.slice(0, i)], temperature)[token],
    );

  /** What it draws where nothing is left out. */
  const plainTokens = async (over: object = {}): Promise<readonly number[]> => {
    const { generator } = await started('llama-cpp');
    return (await generator.generate(asked(over))).tokens;
  };

  test.each([1, 0.5])('returns all log-probabilities at temperature %d', async (temperature) => {
    const sampling = { ...request('one').sampling, temperature };
    const tokens = await plainTokens({ sampling });
    // Three in a row and the last.
    const halves = [...tokens.slice(3, 6), tokens.at(-1)!];
    const { double, generator } = await started('llama-cpp', {}, { halves });
    const made = await generator.generate(asked({ sampling }));
    expect(made.tokens).toEqual(tokens);
    for (const [i, logProb] of logProbsOf(tokens, temperature).entries())
      expect(made.logProbs[i]).toBeCloseTo(logProb!, 9);
    const lists = double.server.requests.filter(({ body }) => 'logit_bias' in body);
    expect(lists.length).toBeGreaterThanOrEqual(halves.length);
  });

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
    const tokens = await plainTokens();
    const endsOfText = [tokens[4]!];
    const first = tokens.indexOf(tokens[4]!) + 1;
    const { double, generator } = await started('llama-cpp', {}, { endsOfText });
    const made = await generator.generate(asked());
    expect(made.tokens.slice(0, first)).toEqual(tokens.slice(0, first));
    expect([made.tokens.length, made.stop]).toEqual([12, 'max-tokens']);
    expect(made.logProbs).toEqual(logProbsOf(made.tokens, 1));
    const [, next] = double.server.requests.filter(
      ({ body }) => body['n_predict'] !== 1 && 'return_tokens' in body,
    );
    expect(next?.body).toMatchObject({
      prompt: [...context, ...made.tokens.slice(0, first)],
      n_predict: 12 - first,
    });
  });
});

const completes = (answer: { status: number; json: unknown }): OpenaiDoubleOptions => ({
  instead: ({ path }) => (path === '/v1/completions' ? answer : undefined),
});
/** It answers what vLLM answered to a request. */
const asVllm = (name: string, changed: object = {}): OpenaiDoubleOptions => {
  const { status, answer } = capturedOpenai('vllm').exchanges.find((one) => one.name === name)!;
  return completes({ status, json: { ...(answer as object), ...changed } });
};
const error = (status: number, message: string) => ({ status, json: { error: { message } } });
const otherTemplate: OpenaiDoubleOptions = {
  instead: ({ path }) =>
    path === '/tokenize' ? { status: 200, json: { tokens: [1, 124, 9] } } : undefined,
};
const otherTokens =
  /tokenizer or chat template.*token 2 of a test conversation is 9 on the server and 130 in the run/;
const unknownRoute = /has no \/v1\/completions \(it answered 404: no\\x1b\[31m\)/;
const refuses = (words: RegExp, ...asked: Parameters<typeof openedOpenai>) =>
  expectRejection(openedOpenai(...asked), 'CONFIG_INVALID', words);

describe('The opening refuses', () => {
  test.each<[string, OpenaiDoubleOptions, RegExp, ServerKind?]>([
    ['that gives no ids', asVllm('without ids'), /no ids .*return_token_ids: true.*"id":"cmpl-/],
    ['without log-probabilities', asVllm('without log-probabilities'), /no log-probabilities/],
    ['that has no such route', completes(error(404, 'no\u001b[31m')), unknownRoute],
    ['that takes texts only', completes(error(400, 'a string')), /answered 400: a string/],
    ['that answers else', completes({ status: 200, json: '<html>' }), /returns no completions\./],
    ['that is another model', asVllm('a few', { model: 'other' }), /model "other" .* "starter"/],
    ['that wants a key', { instead: () => error(401, 'no') }, /401: no\..*generator\.apiKeyEnv/],
    ['of vLLM with other tokens', { vocabSize: 1000 }, /vocabulary of 1000 tokens.* 1024/],
    ['of llama.cpp with other tokens', { vocabSize: 2000 }, /of 2000 tokens.* 1024/, 'llama-cpp'],
    ['of vLLM with another template', otherTemplate, otherTokens],
    ['of llama.cpp with another template', otherTemplate, otherTokens, 'llama-cpp'],
  ])('a server: %s', async (_, options, words, ...[kind = 'vllm']) => {
    const { url } = await serving(kind, options);
    await refuses(words, [url]);
  });

  test.each<[ServerKind, RegExp]>([
    ['vllm', /version "0\.32\.0".*generator\.type vllm/],
    ['llama-cpp', /Train with generator\.type engine/],
  ])('a training on %s before any token', async (kind, words) => {
    const double = await serving(kind);
    await refuses(words, [double.url], {}, { trains: true });
    expect(double.server.requests.map(({ path }) => path)).toEqual(['/version']);
  });

  test.each(kinds)('%s with log-probabilities of another temperature', async (kind) => {
    const { url } = await serving(kind, { processed: false });
    const words = /temperature 0\.7.*processed_logprobs.*post_sampling_probs/;
    await refuses(words, [url], {}, { samplings: [cold] });
  });

  test('llama.cpp when the run truncates the distribution', async () => {
    const { url } = await serving('llama-cpp');
    const samplings = [{ ...unbiased, topK: 5 }];
    await refuses(/topK 5, .*llama\.cpp/, [url], {}, { samplings });
  });

  test('a server of another kind than the first', async () => {
    const [one, other] = [await serving('vllm'), await serving('llama-cpp')];
    await refuses(/llama\.cpp, but .* vLLM\. Use servers of one kind/, [one.url, other.url]);
  });
});

describe('The opening accepts', () => {
  test('a server that does not report its vocabulary size, with a note in the log', async () => {
    const { instead } = asVllm('a few');
    const { url } = await serving('vllm', {
      instead: (asked) => ('logit_bias' in asked.body ? instead!(asked) : undefined),
    });
    const { warnings } = await opened([url], { compareInEvaluation: false });
    expect(warnings.join('\n')).toContain(`${url} does not report its vocabulary size`);
  });

  test.each<[ServerKind, string]>([
    ['vllm', 'vLLM'],
    ['llama-cpp', 'llama.cpp'],
  ])('%s with the weights of the run, with the difference in the log', async (kind, name) => {
    const { url } = await serving(kind);
    const host = { scorer: new ScoredModel(0, 1024), samplings: [cold] };
    const { generator, warnings } = await opened([url], { compareInEvaluation: true }, host);
    expect(await generator.describe()).toMatchObject({ takes: [], reproducible: false });
    expect(warnings[0]).toMatch(new RegExp(`^${url} .* ${name}\\.$`));
    expect(warnings[1]).toMatch(/by up to \S+ nats, .* over 64 tokens; up to 0\.0001 is allowed/);
  });

  test("a server that computes differently, within the user's bound", async () => {
    const { url } = await serving('llama-cpp');
    const right = new ScoredModel(0, 1024);
    // A quarter of a nat, as of arithmetic with fewer bits.
    const scorer = {
      score: async (sequences: readonly Int32Array[]) =>
        (await right.score(sequences)).map((row) => row.map((value) => value - 0.25)),
    };
    const settings = { compareInEvaluation: true, tolerance: 0.5 };
    const { warnings } = await opened([url], settings, { scorer });
    expect(warnings[1]).toMatch(/by up to 0\.25 nats, 0\.25 on average .* up to 0\.5 is allowed/);
  });

  test.each<[ServerKind, string]>([
    ['vllm', '/tokenize'],
    ['llama-cpp', '/apply-template'],
  ])('%s that does not show how it tokenizes, with a note in the log', async (kind, route) => {
    const { url } = await serving(kind, {
      instead: ({ path }) => (path === route ? { status: 404, json: {} } : undefined),
    });
    const { warnings } = await opened([url]);
    expect(warnings[1]).toContain(
      `(${route} answers 404), so the run cannot check that the server uses the tokenizer`,
    );
  });

  test('a server with its own length of context', async () => {
    const { url } = await serving('llama-cpp');
    const { generator } = await opened([url], {}, { maxContextTokens: 4000 });
    expect((await generator.describe()).maxContextTokens).toBe(1024);
  });
});
