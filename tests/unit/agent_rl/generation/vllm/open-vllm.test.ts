import { describe, expect, test } from '@jest/globals';

import { unbiased } from '#agent_rl/core/services/generator.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { request } from '#tests/support/generation-request.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
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
const cold = { ...unbiased, temperature: 0.7 };

describe('The opening refuses', () => {
  test('a server that does not exist', async () => {
    const thrown = await rejectionOf(openedVllm(['http://127.0.0.1:9']));
    expect(thrown).toMatchObject(errorOf('CONFIG_INVALID', /127\.0\.0\.1:9 .*vllm serve/));
  });

  test.each<[string, VllmDoubleOptions, object, RegExp]>([
    ['with more tokens than the model', { vocabSize: 2000 }, {}, /of more than 1024 tokens.* 1024/],
    ['with fewer tokens', { vocabSize: 1000 }, {}, /vocabulary of 1000, .* 1024/],
    [
      'without the model',
      {},
      { model: 'mine' },
      /"mine".*it has "starter".*--served-model-name mine/,
    ],
    ['that takes no weights', { devMode: false }, {}, /VLLM_SERVER_DEV_MODE=1/],
    [
      'that does not take token ids',
      {
        instead: ({ path }) =>
          path.startsWith('/inference') ? { status: 403, json: {} } : undefined,
      },
      {},
      /token ids.*--enable-scale-out/,
    ],
    [
      'with another template',
      {
        instead: ({ path }) =>
          path.endsWith('/render') ? { status: 200, json: { token_ids: [1, 124, 9] } } : undefined,
      },
      {},
      /tokenizer or chat template.*token 2 of a conversation is 9 there and 130 here/,
    ],
    [
      'that wants a key',
      { instead: () => ({ status: 401, json: { error: 'Unauthorized' } }) },
      {},
      /answered 401: Unauthorized\..*generator\.apiKeyEnv/,
    ],
  ])('a server: %s', async (_, options, settings, words) => {
    const { url } = await started(options);
    const thrown = await rejectionOf(openedVllm([url], settings));
    expect(thrown).toMatchObject(errorOf('CONFIG_INVALID', words));
  });

  test('log-probabilities of the model when the run samples at another temperature', async () => {
    const { url } = await started({ processed: false });
    const thrown = await rejectionOf(openedVllm([url], {}, { samplings: [unbiased, cold] }));
    expect(thrown).toMatchObject(
      errorOf('CONFIG_INVALID', /temperature 0\.7.*--logprobs-mode processed_logprobs/),
    );
  });

  test('other weights than the model of an evaluation', async () => {
    const { url } = await started();
    const host = { trains: false, scorer: new ScoredModel(5, 1024) };
    const thrown = await rejectionOf(openedVllm([url], { compareInEvaluation: true }, host));
    expect(thrown).toMatchObject(
      errorOf(
        'GENERATION_FAILED',
        /wrong weights: it gives token \d+, drawn at position 4 .* -\d+\.\d+.* gives it -\d+\.\d+.* 0\.0001 is allowed/,
      ),
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
    const thrown = await rejectionOf(openedVllm([url], {}, host));
    expect(thrown).toMatchObject(
      errorOf('CONFIG_INVALID', /model\.adapters: runs\/a\/checkpoints\/step-4.*merge-lora/),
    );
    await opened([url], {}, { ...host, trains: false });
  });

  test('an adapter only if the server can load adapters', async () => {
    const instead: VllmDoubleOptions['instead'] = ({ path }) =>
      path === '/v1/load_lora_adapter' ? { status: 404, json: {} } : undefined;
    const without = await started({ instead });
    const thrown = await rejectionOf(openedVllm([without.url], {}, { newAdapter: true }));
    expect(String(thrown)).toMatch(/--enable-lora/);
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
