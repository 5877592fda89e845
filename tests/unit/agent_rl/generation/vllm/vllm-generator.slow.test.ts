import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { greedy } from '#agent_rl/core/services/generator.ts';
import { describeGeneratorContract } from '#tests/contracts/generator-contract.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { request } from '#tests/support/generation-request.ts';
import { cutBody, gigabyte, slowBody } from '#tests/support/hostile-answers.ts';
import type { DoubleAnswer } from '#tests/support/http-double.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { expectRejection } from '#tests/support/thrown.ts';
import { until } from '#tests/support/until.ts';
import { openedVllm, writePublished } from '#tests/support/vllm/opened-vllm.ts';
import { VllmDouble } from '#tests/support/vllm/vllm-double.ts';

const folder = temporaryFolder();
let contract: VllmDouble;
const weights = [join(folder, 'one'), join(folder, 'other')] as const;
beforeAll(async () => {
  contract = await VllmDouble.start();
  await Promise.all(weights.map((one, i) => writePublished(one, i + 1)));
});
afterAll(() => contract.close());

describeGeneratorContract('vllm', {
  open: async () => (await openedVllm([contract.url], { weightsFolder: folder })).generator,
  vocabSize: 1024,
  weights,
  scores: true,
});

const open = closedAfterEach();
async function started(settings: object = {}) {
  const double = await VllmDouble.start();
  const { generator, warnings } = await openedVllm([double.url], settings);
  open.push(double, generator);
  return { double, generator, warnings };
}
const generates = ({ path }: { path: string }) => path === '/inference/v1/generate';

const logProbs = (ids: readonly number[], logprob: unknown = -1) => ({
  content: ids.map((token_id) => ({ token_id, logprob })),
});
const fives = [5, 5, 5, 5, 5, 5];
/** An answer with these tokens, and with changes of its choice and of all of it. */
const drawn = (ids: readonly number[], changed: object = {}, over: object = {}) => ({
  status: 200,
  json: {
    model: 'starter',
    usage: { prompt_tokens: 3 },
    choices: [
      {
        finish_reason: 'length',
        token_ids: ids,
        weight_versions: [{ version: 'default', start: 0, end: ids.length }],
        logprobs: logProbs(ids),
        ...changed,
      },
    ],
    ...over,
  },
});

describe('The generator handles unusable answers', () => {
  test.each<[string, DoubleAnswer, RegExp]>([
    ['no JSON', (response) => response.end('<html>'), /the answer is nothing/],
    ['an unknown id', drawn([5, 5, 1024]), /tokens\[2\] is 1024; .* from 0 to 1023/],
    ['fewer tokens than it says', drawn([5]), /length limit after only 1 of 6 tokens/],
    ['no number', drawn(fives, { logprobs: logProbs(fives, null) }), /logProbs\[0\] is null/],
    ['other tokens', drawn(fives, { logprobs: logProbs([6]) }), /log-probability at position 0/],
    ['a token behind a stop token', drawn([5, 7, 5, 5, 5, 5]), /continues after stop token 7/],
    ['no versions', drawn(fives, { weight_versions: null }), /weight_versions is null/],
    ['another context', drawn(fives, {}, { usage: { prompt_tokens: 2 } }), /counts 2 .* but 3/],
    ['a gigabyte', gigabyte, /its answer is longer/],
  ])('%s: it retries, and the episode fails after three answers', async (_, answer, words) => {
    const { double, generator, warnings } = await started();
    let count = 0;
    double.instead = (asked) => (generates(asked) && ++count > 0 ? answer : undefined);
    const asked = request('one', { stopTokens: [7] });
    await expectRejection(generator.generate(asked), 'GENERATION_FAILED', words);
    expect([count, warnings.length]).toEqual([3, 2]);
    double.instead = undefined;
    expect((await generator.generate(request('one'))).tokens).toHaveLength(6);
  });

  const otherVersions = [{ version: 'default' }, { version: 'theirs' }];
  test.each([
    ['another model', drawn(fives, {}, { model: 'other' }), /answered as model other/],
    ['other weights', drawn(fives, { weight_versions: otherVersions }), /from weights theirs/],
  ])('%s: it uses none of the answer', async (_, answer, words) => {
    const { double, generator } = await started();
    double.instead = (asked) => (generates(asked) ? answer : undefined);
    // A retry first sends the weights again, and here are no weights to send.
    await expectRejection(generator.generate(request('one')), 'GENERATION_FAILED', words);
  });

  test('a body that arrives too slowly ends the request at its deadline', async () => {
    const { double, generator } = await started({ deadlineS: 0.3 });
    double.instead = (asked) => (generates(asked) ? slowBody : undefined);
    const asked = generator.generate(request('one'));
    await expectRejection(asked, 'GENERATION_FAILED', /no answer within 0\.3 s/);
  });

  test('a request that the server rejects is not retried', async () => {
    const { double, generator } = await started();
    let count = 0;
    const refusal = { status: 400, json: { error: { message: 'too \u001b[31mlong' } } };
    double.instead = (asked) => (generates(asked) && ++count > 0 ? refusal : undefined);
    const words = /answered 400: too \\x1b\[31mlong/;
    await expectRejection(generator.generate(request('one')), 'CONFIG_INVALID', words);
    expect(count).toBe(1);
  });
});

describe('The generator recovers', () => {
  test.each<[string, DoubleAnswer, number]>([
    ['a busy server', { status: 429, json: {} }, 2],
    ['an engine that fails once', { status: 500, json: { error: 'x' } }, 1],
    ['a connection that breaks', 'cut', 1],
    ['a body that is cut short', cutBody, 1],
    ['a request given up', drawn([], { finish_reason: 'abort' }, { usage: undefined }), 1],
  ])('%s: it draws the tokens of the same key, with a note', async (_, answer, times) => {
    const { double, generator, warnings } = await started();
    const usual = await generator.generate(request('one'));
    let count = 0;
    double.instead = (asked) => (generates(asked) && ++count <= times ? answer : undefined);
    expect(await generator.generate(request('one'))).toEqual(usual);
    expect(warnings.length).toBeGreaterThan(0);
  });

  test('a turn longer than the deadline is drawn like a short one', async () => {
    const { double, generator, warnings } = await started({ deadlineS: 3 });
    const quick = await openedVllm([double.url]);
    open.push(quick.generator);
    const turn = request('one', { maxTokens: 40, sampling: greedy });
    const whole = await quick.generator.generate(turn);
    // Ten tokens a second.
    double.instead = async (asked) => {
      if (!generates(asked)) return undefined;
      const { max_tokens: most } = asked.body['sampling_params'] as { max_tokens: number };
      await new Promise((resolve) => setTimeout(resolve, 100 * most));
      return undefined;
    };
    expect(await generator.generate(turn)).toEqual(whole);
    expect(warnings).toEqual([]);
  });

  test('the server hears of an aborted request', async () => {
    const { double, generator } = await started();
    const abort = new AbortController();
    double.instead = (asked) => (generates(asked) ? () => abort.abort() : undefined);
    const { stop } = await generator.generate(request('one'), abort.signal);
    expect(stop).toBe('aborted');
    const { requests } = double.server;
    const abortOf = () => requests.find(({ path }) => path.endsWith('/abort_requests'));
    await until(() => abortOf() !== undefined);
    const asked = requests.findLast(generates);
    expect(abortOf()?.body).toEqual({
      request_ids: [`generate-tokens-${String(asked?.body['request_id'])}`],
    });
  });

  test('the server gets at most the allowed number of requests at once, the others in order of arrival', async () => {
    const { double, generator } = await started({ requestsAtOnce: 2 });
    let [now, most] = [0, 0];
    const order: unknown[] = [];
    double.instead = async (asked) => {
      if (!generates(asked)) return undefined;
      order.push((asked.body['token_ids'] as number[])[0]);
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      now -= 1;
      return undefined;
    };
    const first = [10, 11, 12, 13, 14, 15];
    await Promise.all(
      first.map((token) => generator.generate(request(`e${token}`, { tokens: [token] }))),
    );
    expect([most, order]).toEqual([2, first]);
  });
});
