import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { greedy } from '#agent_rl/core/services/generator.ts';
import { describeGeneratorContract } from '#tests/contracts/generator-contract.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { request } from '#tests/support/generation-request.ts';
import { cutBody, gigabyte, slowBody } from '#tests/support/hostile-answers.ts';
import type { DoubleAnswer } from '#tests/support/http-double.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
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
});

const open = closedAfterEach();
async function started(settings: object = {}) {
  const double = await VllmDouble.start();
  const { generator, warnings } = await openedVllm([double.url], settings);
  open.push(double, generator);
  return { double, generator, warnings };
}
const generates = ({ path }: { path: string }) => path === '/inference/v1/generate';

describe('The generator handles unusable answers', () => {
  /** An answer to a request for six tokens, with something wrong in it. */
  const wrong = (change: (choice: Record<string, unknown>) => object, over: object = {}) => ({
    status: 200,
    json: {
      model: 'starter',
      usage: { prompt_tokens: 3 },
      choices: [
        {
          finish_reason: 'length',
          token_ids: [5, 5, 5, 5, 5, 5],
          weight_versions: [{ version: 'default', start: 0, end: 6 }],
          logprobs: {
            content: Array.from({ length: 6 }, () => ({ token_id: 5, logprob: -1 })),
          },
          ...change({}),
        },
      ],
      ...over,
    },
  });
  const logprobs = (logprob: unknown, token_id = 5) => ({
    logprobs: { content: Array.from({ length: 6 }, () => ({ token_id, logprob })) },
  });

  test.each<[string, DoubleAnswer, RegExp]>([
    ['no JSON', (response) => response.end('<html>'), /the answer is nothing/],
    [
      'an id beyond the vocabulary',
      wrong(() => ({
        token_ids: [5, 5, 5, 5, 5, 1024],
        logprobs: { content: [5, 5, 5, 5, 5, 1024].map((token_id) => ({ token_id, logprob: -1 })) },
      })),
      /tokens\[5\] is 1024; expected a whole number from 0 to 1023/,
    ],
    [
      'more tokens than asked for',
      wrong(() => ({
        token_ids: Array.from({ length: 7 }, () => 5),
        logprobs: { content: Array.from({ length: 7 }, () => ({ token_id: 5, logprob: -1 })) },
      })),
      /tokens has 7 ids; expected at most maxTokens = 6/,
    ],
    [
      'fewer tokens than it says',
      wrong(() => ({ token_ids: [5], logprobs: { content: [{ token_id: 5, logprob: -1 }] } })),
      /length after 1 of 6 tokens/,
    ],
    [
      'a log-probability that is no number',
      wrong(() => logprobs(null)),
      /logProbs\[0\] is null; expected a finite number/,
    ],
    ['a log-probability above 0', wrong(() => logprobs(0.5)), /logProbs\[0\] is 0\.5/],
    [
      'log-probabilities of other tokens',
      wrong(() => logprobs(-1, 6)),
      /log-probability at position 0/,
    ],
    [
      'an invalid stop token',
      wrong(() => ({ finish_reason: 'stop' })),
      /stop is stop-token, but the last token is 5/,
    ],
    [
      'a token behind a stop token',
      wrong(() => ({
        token_ids: [5, 7, 5, 5, 5, 5],
        logprobs: { content: [5, 7, 5, 5, 5, 5].map((token_id) => ({ token_id, logprob: -1 })) },
      })),
      /continues after stop token 7/,
    ],
    ['no versions of weights', wrong(() => ({ weight_versions: null })), /weight_versions is null/],
    [
      'another context',
      wrong(() => ({}), { usage: { prompt_tokens: 2 } }),
      /counts 2 tokens of context, but 3 were sent/,
    ],
    ['a gigabyte', gigabyte, /its answer is longer/],
  ])('%s: it retries, and the episode fails after three answers', async (_, answer, words) => {
    const { double, generator, warnings } = await started();
    let count = 0;
    double.instead = (asked) => (generates(asked) && ++count > 0 ? answer : undefined);
    const thrown = await rejectionOf(generator.generate(request('one', { stopTokens: [7] })));
    expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
    expect(String(thrown)).toMatch(words);
    expect([count, warnings.length]).toEqual([3, 2]);
    double.instead = undefined;
    expect((await generator.generate(request('one'))).tokens).toHaveLength(6);
  });

  test.each<[string, object]>([
    ['another model', wrong(() => ({}), { model: 'other' })],
    [
      'tokens of other weights',
      wrong(() => ({ weight_versions: [{ version: 'default' }, { version: 'theirs' }] })),
    ],
  ])('%s: it uses none of the answer', async (_, answer) => {
    const { double, generator } = await started();
    double.instead = (asked) => (generates(asked) ? (answer as DoubleAnswer) : undefined);
    // A retry first sends the weights again, and here are no weights to send.
    const thrown = await rejectionOf(generator.generate(request('one')));
    expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
    expect(String(thrown)).toMatch(/answered as model other|drew from weights theirs/);
  });

  test('a body that arrives too slowly ends the request at its deadline', async () => {
    const { double, generator } = await started({ deadlineS: 0.3 });
    double.instead = (asked) => (generates(asked) ? slowBody : undefined);
    const thrown = await rejectionOf(generator.generate(request('one')));
    expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
    expect(String(thrown)).toMatch(/no answer within 0\.3 s/);
  });

  test('a request that the server rejects is not retried', async () => {
    const { double, generator } = await started();
    let count = 0;
    double.instead = (asked) =>
      generates(asked) && ++count > 0
        ? { status: 400, json: { error: { message: 'too \u001b[31mlong' } } }
        : undefined;
    const thrown = await rejectionOf(generator.generate(request('one')));
    expect(thrown).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(String(thrown)).toMatch(/answered 400: too \\x1b\[31mlong/);
    expect(count).toBe(1);
  });
});

describe('The generator recovers', () => {
  test.each<[string, (count: number) => DoubleAnswer | 'own']>([
    ['a busy server', (count) => (count < 3 ? { status: 429, json: {} } : 'own')],
    [
      'an engine that fails once',
      (count) => (count < 2 ? { status: 500, json: { error: 'x' } } : 'own'),
    ],
    ['a connection that breaks', (count) => (count < 2 ? 'cut' : 'own')],
    ['a body that is cut short', (count) => (count < 2 ? cutBody : 'own')],
    [
      'a request that the server gives up',
      (count) =>
        count < 2
          ? {
              status: 200,
              json: {
                model: 'starter',
                choices: [
                  {
                    finish_reason: 'abort',
                    token_ids: [],
                    logprobs: { content: [] },
                    weight_versions: [],
                  },
                ],
              },
            }
          : 'own',
    ],
  ])('%s: it draws the tokens of the same key, with a note in the log', async (_, answer) => {
    const { double, generator, warnings } = await started();
    const usual = await generator.generate(request('one'));
    let count = 0;
    double.instead = (asked) => {
      if (!generates(asked)) return undefined;
      const given = answer(++count);
      return given === 'own' ? undefined : given;
    };
    expect(await generator.generate(request('one'))).toEqual(usual);
    expect(warnings.length).toBeGreaterThan(0);
  });

  test('a turn longer than the deadline is drawn like a short one', async () => {
    const { double, generator, warnings } = await started({ deadlineS: 3 });
    const quick = await openedVllm([double.url]);
    open.push(quick.generator);
    const turn = (over: object = {}) =>
      request('one', { maxTokens: 40, sampling: greedy, ...over });
    const whole = await quick.generator.generate(turn());
    // Ten tokens a second.
    double.instead = async (asked) => {
      if (!generates(asked)) return undefined;
      const { max_tokens: most } = asked.body['sampling_params'] as { max_tokens: number };
      await new Promise((resolve) => setTimeout(resolve, 100 * most));
      return undefined;
    };
    expect(await generator.generate(turn())).toEqual(whole);
    const stopTokens = [whole.tokens[20]!];
    const length = whole.tokens.indexOf(stopTokens[0]!) + 1;
    expect(await generator.generate(turn({ stopTokens }))).toMatchObject({
      tokens: whole.tokens.slice(0, length),
      logProbs: whole.logProbs.slice(0, length),
      stop: 'stop-token',
    });
    expect(warnings).toEqual([]);
  });

  test('the server hears of an aborted request', async () => {
    const { double, generator } = await started();
    const abort = new AbortController();
    double.instead = (asked) => (generates(asked) ? () => abort.abort() : undefined);
    const { stop } = await generator.generate(request('one'), abort.signal);
    expect(stop).toBe('aborted');
    for (let tries = 0; tries < 100; tries++) {
      if (double.server.requests.some(({ path }) => path.endsWith('/abort_requests'))) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const told = double.server.requests.find(({ path }) => path.endsWith('/abort_requests'));
    const asked = double.server.requests.findLast(generates);
    expect(told?.body).toEqual({
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
