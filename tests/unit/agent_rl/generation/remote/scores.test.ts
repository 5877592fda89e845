import { describe, expect, test } from '@jest/globals';

import type { Generator } from '#agent_rl/core/services/generator.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import type { GotRequest } from '#tests/support/http-double.ts';
import { OpenaiDouble, type OpenaiDoubleOptions } from '#tests/support/openai/openai-double.ts';
import { openedOpenai } from '#tests/support/openai/opened-openai.ts';
import { likeliest, ScoredModel } from '#tests/support/scored-model.ts';
import { expectRejection } from '#tests/support/thrown.ts';
import { openedVllm } from '#tests/support/vllm/opened-vllm.ts';
import { VllmDouble } from '#tests/support/vllm/vllm-double.ts';

const open = closedAfterEach();
async function vllm(settings: object = {}) {
  const double = await VllmDouble.start();
  const { generator, warnings } = await openedVllm([double.url], settings);
  open.push(double, generator);
  return { double, generator, warnings };
}
async function openai(options: OpenaiDoubleOptions = {}, kind: 'vllm' | 'llama-cpp' = 'vllm') {
  const double = await OpenaiDouble.start(kind, options);
  const { generator } = await openedOpenai([double.url]);
  open.push(double, generator);
  return { double, generator };
}

const model = new ScoredModel(0, 1024);
const sequences = [
  Int32Array.of(1, 300, 17, 301, 5, 900),
  Int32Array.of(7, 7, 7),
  Int32Array.of(4),
];
const plain = { temperature: 1 };
const isScoring = ({ body }: GotRequest) =>
  body['echo'] === true ||
  'prompt_logprobs' in { ...body, ...(body['sampling_params'] as object | undefined) };
const answer = (prompt_logprobs: unknown, over: object = {}) => ({
  status: 200,
  json: {
    model: 'starter',
    usage: { prompt_tokens: 3 },
    prompt_logprobs,
    choices: [{ token_ids: [1], weight_versions: [{ version: 'default' }] }],
    ...over,
  },
});
const at = (logprob: unknown) => [null, { 7: { logprob } }, { 7: { logprob } }];

async function expectTop(generator: Generator, topK: number): Promise<void> {
  const scored = await generator.scoreTop!(sequences, { ...plain, topK });
  const expected = await model.score(sequences);
  for (const [i, { logProbs, top }] of scored.entries()) {
    const sequence = sequences[i]!;
    expect(logProbs).toEqual(expected[i]);
    expect(top.topK).toBe(topK);
    for (const place of sequence.keys()) {
      const all = place === 0 ? [] : model.logProbs(sequence.subarray(0, place), 1);
      const ids = place === 0 ? Array.from({ length: topK }, () => 0) : likeliest(all, topK);
      const own = [place * topK, (place + 1) * topK] as const;
      expect([...top.ids.subarray(...own)]).toEqual(ids);
      expect([...top.logProbs.subarray(...own)]).toEqual(
        ids.map((id) => Math.fround(all[id] ?? 0)),
      );
    }
  }
}

describe('A generator on servers', () => {
  test('scores given tokens on vLLM, with the likeliest in each place', async () => {
    const { generator } = await vllm();
    expect(await generator.score!(sequences, plain)).toEqual(await model.score(sequences));
    await expectTop(generator, 3);
  });

  test('scores given tokens over the OpenAI API, by an echo', async () => {
    const { generator } = await openai();
    expect(await generator.score!(sequences, plain)).toEqual(await model.score(sequences));
    await expectTop(generator, 4);
  });

  test('scores by echo where tokens are named by their texts, but lists no likeliest', async () => {
    const { generator } = await openai({ namesIds: false });
    expect(await generator.score!(sequences, plain)).toEqual(await model.score(sequences));
    const asked = generator.scoreTop!(sequences, { ...plain, topK: 2 });
    await expectRejection(asked, 'GENERATION_FAILED', /lists 1 of the 2 likeliest tokens/);
  });

  test('sends nothing behind the last wanted token, and nothing where none is wanted', async () => {
    const { double, generator } = await vllm();
    const wanted = [[0, 0, 0, 1, 0, 0], [1, 0, 0], [1]];
    const [scored, nothing, short] = await generator.score!(sequences, { ...plain, wanted });
    const [whole] = await model.score(sequences);
    expect([...scored!]).toEqual([0, 0, 0, whole![3], 0, 0]);
    expect([[...nothing!], [...short!]]).toEqual([[0, 0, 0], [0]]);
    const sent = double.server.requests.filter(isScoring).map(({ body }) => body['token_ids']);
    expect(sent).toEqual([[1, 300, 17, 301]]);
  });

  test('asks a server for no more sequences at once than it may be asked for', async () => {
    const { double, generator } = await vllm({ requestsAtOnce: 2 });
    let [now, most] = [0, 0];
    double.instead = async (asked) => {
      if (!isScoring(asked)) return undefined;
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      now -= 1;
      return undefined;
    };
    const many = Array.from({ length: 6 }, (_, i) => Int32Array.of(1, i));
    expect(await generator.score!(many, plain)).toEqual(await model.score(many));
    expect(most).toBe(2);
  });

  test('refuses another temperature and says what to do', async () => {
    const { generator } = await vllm();
    const asked = generator.score!(sequences, { temperature: 0.7 });
    const words = /at temperature 1, but 0\.7 was requested\. Sample at temperature 1/;
    await expectRejection(asked, 'CONFIG_INVALID', words);
  });

  test.each<[string, OpenaiDoubleOptions, 'vllm' | 'llama-cpp', RegExp]>([
    ['vllm', { echoes: false }, 'vllm', /does not score given tokens\. .* answered 400/],
    ['llama-cpp', {}, 'llama-cpp', /does not score given tokens\. Use a server that gives/],
  ])('refuses a server of %s that scores no prompts', async (_, options, kind, words) => {
    const { generator } = await openai(options, kind);
    await expectRejection(generator.score!(sequences, plain), 'CONFIG_INVALID', words);
  });

  test.each([
    ['a text', answer(at('x')), 'GENERATION_FAILED', /token 7 at position 1 is "x"/],
    ['a number above 0', answer(at(0.5)), 'GENERATION_FAILED', /at position 1 is 0\.5/],
    ['too few places', answer(at(-1).slice(0, 2)), 'GENERATION_FAILED', /position 2 is nothing/],
    ['another token', answer([null, { 8: { logprob: -1 } }]), 'GENERATION_FAILED', /token 7/],
    [
      'another context',
      answer(at(-1), { usage: { prompt_tokens: 2 } }),
      'GENERATION_FAILED',
      /counts 2 tokens of context, but 3 were sent/,
    ],
    ['another model', answer(at(-1), { model: 'other' }), 'GENERATION_FAILED', /as model other/],
    [
      'other weights',
      answer(at(-1), { choices: [{ weight_versions: [{ version: 'theirs' }] }] }),
      'GENERATION_FAILED',
      /from weights theirs/,
    ],
    [
      'a refusal',
      { status: 400, json: { error: { message: 'requested prompt logprobs of 30' } } },
      'CONFIG_INVALID',
      /requested prompt logprobs of 30\. Use .*--max-logprobs/,
    ],
  ] as const)('uses no score from an answer with %s', async (_, given, code, words) => {
    const { double, generator } = await vllm();
    double.instead = (asked) => (isScoring(asked) ? given : undefined);
    await expectRejection(generator.score!([sequences[1]!], plain), code, words);
  });

  test('asks again after an answer that passes', async () => {
    const { double, generator, warnings } = await vllm();
    let count = 0;
    double.instead = (asked) =>
      isScoring(asked) && ++count === 1 ? { status: 429, json: {} } : undefined;
    expect(await generator.score!(sequences, plain)).toEqual(await model.score(sequences));
    expect(warnings.join()).toContain('answered 429');
  });

  test('asks for no other sequence after one has failed', async () => {
    const { double, generator } = await vllm({ requestsAtOnce: 1 });
    let count = 0;
    double.instead = (asked) =>
      isScoring(asked) && ++count > 0 ? { status: 400, json: {} } : undefined;
    await expectRejection(generator.score!(sequences, plain), 'CONFIG_INVALID', /does not score/);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(count).toBe(1);
  });

  test('ends when it is cancelled', async () => {
    const { double, generator } = await vllm();
    const stop = new AbortController();
    double.instead = (asked) => {
      if (isScoring(asked)) stop.abort(new Error('enough'));
      return undefined;
    };
    await expect(generator.score!(sequences, plain, stop.signal)).rejects.toThrow('enough');
  });
});
