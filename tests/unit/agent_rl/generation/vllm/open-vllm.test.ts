import { describe, expect, test } from '@jest/globals';

import { unbiased } from '#agent_rl/core/services/generator.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { request } from '#tests/support/generation-request.ts';
import { expectRejection, rejectionOf } from '#tests/support/thrown.ts';
import { openedVllm } from '#tests/support/vllm/opened-vllm.ts';
import { ScoredModel } from '#tests/support/scored-model.ts';
import { VllmDouble, type VllmDoubleOptions } from '#tests/support/vllm/vllm-double.ts';
import { askVllm, breaking, capturedVllm, comparable } from '#tests/support/vllm/vllm-exchanges.ts';

const open = closedAfterEach();

async function started(options: VllmDoubleOptions = {}): Promise<VllmDouble> {
  const double = await VllmDouble.start(options);
  open.push(double);
  return double;
}
async function opened(...asked: Parameters<typeof openedVllm>) {
  const { generator, warnings } = await openedVllm(...asked);
  open.push(generator);
  return { generator, warnings };
}
/** It answers so where a path has this in it. */
const answering = (part: string, status: number, json: object): VllmDoubleOptions => ({
  instead: ({ path }) => (path.includes(part) ? { status, json } : undefined),
});
const refuses = (words: RegExp, ...asked: Parameters<typeof openedVllm>) =>
  expectRejection(openedVllm(...asked), 'CONFIG_INVALID', words);
const cold = { ...unbiased, temperature: 0.7 };

describe('The opening refuses', () => {
  test('a server that does not exist', async () => {
    await refuses(/127\.0\.0\.1:9 .*vllm serve/, ['http://127.0.0.1:9']);
  });

  test.each<[string, VllmDoubleOptions, object, RegExp]>([
    ['with more tokens than the model', { vocabSize: 2000 }, {}, /of more than 1024 tokens.* 1024/],
    ['with fewer tokens', { vocabSize: 1000 }, {}, /vocabulary of 1000, .* 1024/],
    ['without the model', {}, { model: 'mine' }, /"mine".*has "starter".*--served-model-name mine/],
    ['that takes no weights', { devMode: false }, {}, /VLLM_SERVER_DEV_MODE=1/],
    ['that takes no ids', answering('/inference', 403, {}), {}, /token ids.*--enable-scale-out/],
    [
      'with another template',
      answering('/render', 200, { token_ids: [1, 124, 9] }),
      {},
      /tokenizer or chat template.*token 2 of a test conversation is 9 on the server and 130 in the run/,
    ],
    ['with a key', answering('', 401, { error: 'no' }), {}, /401: no\..*generator\.apiKeyEnv/],
  ])('a server: %s', async (_, options, settings, words) => {
    const { url } = await started(options);
    await refuses(words, [url], settings);
  });

  test('log-probabilities of the model when the run samples at another temperature', async () => {
    const { url } = await started({ processed: false });
    const words = /temperature 0\.7.*--logprobs-mode processed_logprobs/;
    await refuses(words, [url], {}, { samplings: [unbiased, cold] });
  });

  test('other weights than the model of an evaluation', async () => {
    const { url } = await started();
    const host = { trains: false, scorer: new ScoredModel(5, 1024) };
    await expectRejection(
      openedVllm([url], { compareInEvaluation: true }, host),
      'GENERATION_FAILED',
      /wrong weights\. Token \d+ at position 4 .* -\d+\.\d+ on the server and -\d+\.\d+ in .* 0\.0001 is allowed/,
    );
  });
});

describe('The opening accepts', () => {
  test('log-probabilities of the model, but later refuses another temperature', async () => {
    const { url } = await started({ processed: false });
    const { generator } = await opened([url], {}, { samplings: [unbiased] });
    const thrown = await rejectionOf(generator.generate(request('one', { sampling: cold })));
    expect(thrown).toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test('no model with its own adapters, which cannot be sent', async () => {
    const { url } = await started();
    const host = { adapters: ['runs/a/checkpoints/step-4'] };
    await refuses(/model\.adapters: runs\/a\/checkpoints\/step-4.*merge-lora/, [url], {}, host);
    await opened([url], {}, { ...host, trains: false });
  });

  test('an adapter only if the server can load adapters', async () => {
    const without = await started(answering('/v1/load_lora_adapter', 404, {}));
    await refuses(/--enable-lora/, [without.url], {}, { newAdapter: true });
    const { url } = await started({ devMode: false });
    const { generator } = await opened([url], {}, { newAdapter: true });
    expect((await generator.describe()).takes).toEqual(['folder']);
  });
});

test('the double answers like vLLM 0.32.0', async () => {
  const { url } = await started();
  const real = capturedVllm().exchanges.filter(({ name }) => name !== breaking);
  expect(comparable(await askVllm(url))).toEqual(comparable(real));
});
