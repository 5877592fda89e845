import { describe, expect, test } from '@jest/globals';

import { unbiased } from '#agent_rl/core/services/generator.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { request } from '#tests/support/generation-request.ts';
import { OpenaiDouble, type OpenaiDoubleOptions } from '#tests/support/openai/openai-double.ts';
import { capturedOpenai, type ServerKind } from '#tests/support/openai/openai-exchanges.ts';
import { openedOpenai } from '#tests/support/openai/opened-openai.ts';
import { ScoredModel } from '#tests/support/scored-model.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const open = closedAfterEach();

async function started(kind: ServerKind, options: OpenaiDoubleOptions = {}): Promise<OpenaiDouble> {
  const double = await OpenaiDouble.start(kind, options);
  open.push(double);
  return double;
}
async function opened(...asked: Parameters<typeof openedOpenai>) {
  const { generator, warnings } = await openedOpenai(...asked);
  open.push(generator);
  return { generator, warnings };
}
const cold = { ...unbiased, temperature: 0.7 };
const kinds: readonly ServerKind[] = ['vllm', 'llama-cpp'];
/** What vLLM answered to a request. */
const asVllm = (name: string) => {
  const { status, answer } = capturedOpenai('vllm').exchanges.find((one) => one.name === name)!;
  return { status, json: answer };
};
const completes = (answer: { status: number; json: unknown }): OpenaiDoubleOptions => ({
  instead: ({ path }) => (path === '/v1/completions' ? answer : undefined),
});

describe('The opening refuses', () => {
  test.each<[string, ServerKind, OpenaiDoubleOptions, RegExp]>([
    [
      'that gives no ids',
      'vllm',
      completes(asVllm('without ids')),
      /returns no ids .*return_token_ids: true.* \{"id":"cmpl-.*vLLM.*llama\.cpp/,
    ],
    [
      'that gives no log-probabilities',
      'vllm',
      completes(asVllm('without log-probabilities')),
      /returns no log-probabilities/,
    ],
    [
      'that has no such route',
      'vllm',
      completes({ status: 404, json: { error: { message: 'no\u001b[31m' } } }),
      /has no \/v1\/completions \(it answered 404: no\\x1b\[31m\)/,
    ],
    [
      'that takes texts only',
      'vllm',
      completes({ status: 400, json: { error: { message: 'prompt: expected a string' } } }),
      /\/v1\/completions answered 400: prompt: expected a string/,
    ],
    [
      'that answers something else',
      'vllm',
      completes({ status: 200, json: '<html>' }),
      /returns no completions\./,
    ],
    [
      'that answers as another model',
      'vllm',
      completes({ status: 200, json: { ...(asVllm('a few').json as object), model: 'other' } }),
      /model "other" .* "starter"/,
    ],
    [
      'that wants a key',
      'llama-cpp',
      { instead: () => ({ status: 401, json: { error: { message: 'Invalid API Key' } } }) },
      /answered 401: Invalid API Key\..*generator\.apiKeyEnv/,
    ],
    ['of vLLM with other tokens', 'vllm', { vocabSize: 1000 }, /vocabulary of 1000 tokens.* 1024/],
    [
      'of llama.cpp with other tokens',
      'llama-cpp',
      { vocabSize: 2000 },
      /vocabulary of 2000 tokens.* 1024/,
    ],
    [
      'of vLLM with another template',
      'vllm',
      {
        instead: ({ path }) =>
          path === '/tokenize' ? { status: 200, json: { tokens: [1, 124, 9] } } : undefined,
      },
      /tokenizer or chat template.*token 2 of a conversation is 9 there and 130 here/,
    ],
    [
      'of llama.cpp with another template',
      'llama-cpp',
      {
        instead: ({ path }) =>
          path === '/tokenize' ? { status: 200, json: { tokens: [1, 124, 9] } } : undefined,
      },
      /token 2 of a conversation is 9 there and 130 here/,
    ],
  ])('a server: %s', async (_, kind, options, words) => {
    const { url } = await started(kind, options);
    const thrown = await rejectionOf(openedOpenai([url]));
    expect(thrown).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(String(thrown)).toMatch(words);
  });

  test.each<[ServerKind, RegExp]>([
    ['vllm', /version "0\.32\.0".*generator\.type vllm/],
    ['llama-cpp', /Train with generator\.type engine/],
  ])('a training on %s before any token', async (kind, words) => {
    const double = await started(kind);
    const thrown = await rejectionOf(openedOpenai([double.url], {}, { trains: true }));
    expect(thrown).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(String(thrown)).toMatch(words);
    expect(double.server.requests.map(({ path }) => path)).toEqual(['/version']);
  });

  test.each(kinds)(
    '%s with log-probabilities of the model when the run samples at another temperature',
    async (kind) => {
      const { url } = await started(kind, { processed: false });
      const thrown = await rejectionOf(openedOpenai([url], {}, { samplings: [cold] }));
      expect(thrown).toMatchObject({ code: 'CONFIG_INVALID' });
      expect(String(thrown)).toMatch(/temperature 0\.7.*processed_logprobs.*post_sampling_probs/);
    },
  );

  test('llama.cpp when the run truncates the distribution', async () => {
    const { url } = await started('llama-cpp');
    const cut = { ...unbiased, topK: 5 };
    const thrown = await rejectionOf(openedOpenai([url], {}, { samplings: [cut] }));
    expect(String(thrown)).toMatch(/topK 5, .*llama\.cpp/);
  });

  test('a server without the model', async () => {
    const { url } = await started('llama-cpp');
    const thrown = await rejectionOf(openedOpenai([url], { model: 'mine' }));
    expect(String(thrown)).toMatch(/"mine".*it has "smollm2"/);
  });

  test('a server of another kind than the first', async () => {
    const [one, other] = [await started('vllm'), await started('llama-cpp')];
    const settings = { compareInEvaluation: false };
    const thrown = await rejectionOf(openedOpenai([one.url, other.url], settings));
    expect(String(thrown)).toMatch(/llama\.cpp, but .* vLLM\. Use servers of one kind/);
  });

  test.each(kinds)("%s with other weights than the run's model", async (kind) => {
    const { url } = await started(kind);
    const host = { scorer: new ScoredModel(5, 1024) };
    const thrown = await rejectionOf(openedOpenai([url], { compareInEvaluation: true }, host));
    expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
    expect(String(thrown)).toMatch(
      /wrong weights.*difference over 64 tokens is \d+\.\d+, and 0\.0001 is allowed/,
    );
  });
});

describe('The opening accepts', () => {
  test('a server that does not report its vocabulary size, with a note in the log', async () => {
    const first = asVllm('a few');
    const { url } = await started('vllm', {
      instead: ({ path, body }) =>
        path === '/v1/completions' && 'logit_bias' in body ? first : undefined,
    });
    const { warnings } = await opened([url], { compareInEvaluation: false });
    expect(warnings).toContainEqual(
      expect.stringContaining(`${url} does not report its vocabulary size`),
    );
  });

  test.each<[ServerKind, string]>([
    ['vllm', 'vLLM'],
    ['llama-cpp', 'llama.cpp'],
  ])(
    "%s with the weights of the run's model, with the difference in the log",
    async (kind, name) => {
      const { url } = await started(kind);
      const host = { scorer: new ScoredModel(0, 1024), samplings: [cold] };
      const { generator, warnings } = await opened([url], { compareInEvaluation: true }, host);
      expect(await generator.describe()).toMatchObject({ takes: [], reproducible: false });
      expect(warnings).toEqual([
        expect.stringMatching(`^${url} .* ${name}\\.$`),
        expect.stringMatching(
          /differ by up to \S+ nats, \S+ on average over 64 tokens; up to 0\.0001 is allowed/,
        ),
      ]);
    },
  );

  test("a server that computes differently, within the user's bound", async () => {
    const { url } = await started('llama-cpp');
    const right = new ScoredModel(0, 1024);
    // A quarter of a nat, as of arithmetic with fewer bits.
    const scorer = {
      score: async (sequences: readonly Int32Array[]) =>
        (await right.score(sequences)).map((row) => row.map((value) => value - 0.25)),
    };
    const settings = { compareInEvaluation: true, tolerance: 0.5 };
    const { warnings } = await opened([url], settings, { scorer });
    expect(warnings[1]).toMatch(
      /by up to 0\.25 nats, 0\.25 on average over 64 tokens; up to 0\.5 is allowed/,
    );
  });

  test.each(kinds)(
    '%s with log-probabilities of the model, but later refuses another temperature',
    async (kind) => {
      const { url } = await started(kind, { processed: false });
      const { generator } = await opened([url], {}, { samplings: [unbiased] });
      const thrown = await rejectionOf(generator.generate(request('one', { sampling: cold })));
      expect(thrown).toMatchObject({ code: 'CONFIG_INVALID' });
    },
  );

  test.each<[ServerKind, string]>([
    ['vllm', '/tokenize'],
    ['llama-cpp', '/apply-template'],
  ])(
    '%s that does not show how it tokenizes conversations, with a note in the log',
    async (kind, route) => {
      const instead: OpenaiDoubleOptions['instead'] = ({ path }) =>
        path === route ? { status: 404, json: {} } : undefined;
      const { url } = await started(kind, { instead });
      const { warnings } = await opened([url]);
      expect(warnings[1]).toContain(
        `(${route} answers 404), so its tokenizer and chat template are not`,
      );
    },
  );

  test('a server with its own length of context', async () => {
    const { url } = await started('llama-cpp');
    const { generator } = await opened([url], {}, { maxContextTokens: 4000 });
    expect((await generator.describe()).maxContextTokens).toBe(1024);
  });
});
