import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';
import { Value } from 'typebox/value';

import { failureOf } from '#agent_rl/core/failure.ts';
import type { EpisodeView } from '#agent_rl/core/plugins/reward.ts';
import { rewards } from '#agent_rl/core/plugins/reward.ts';
import { JudgeClient } from '#agent_rl/rewards/model-judge/judge-client.ts';
import { ModelJudge } from '#agent_rl/rewards/model-judge/model-judge.ts';
import { ModelJudgeSettings } from '#agent_rl/rewards/model-judge/settings.ts';
import { type DoubleAnswer, type GotRequest, httpDouble } from '#tests/support/http-double.ts';
import { chatCompletion } from '#tests/support/chat-completion.ts';
import { episodeOf } from '#tests/support/episodes.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { describeRewardContract } from '../../../../contracts/reward-contract.ts';

const folder = temporaryFolder();
const key = 'sk-very-secret-0123456789';
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

const settingsOf = (changes: Partial<ModelJudgeSettings> = {}) =>
  Value.Default(ModelJudgeSettings, {
    url: 'http://127.0.0.1:1/v1',
    model: 'judge',
    backoffFactor: 0,
    ...changes,
  }) as ModelJudgeSettings;
const given = (content: string, more = {}): DoubleAnswer => ({
  status: 200,
  json: chatCompletion(content, more),
});
const scored = (score: number): DoubleAnswer => given(JSON.stringify({ reason: 'r', score }));

/** A judge whose server answers so, on the loopback address. */
async function judge(
  answer: (request: GotRequest, count: number) => DoubleAnswer,
  changes: Partial<ModelJudgeSettings> = {},
) {
  const server = await httpDouble(answer);
  opened.push(server);
  const settings = settingsOf({ url: `${server.url}/v1/`, apiKeyEnv: 'JUDGE_KEY', ...changes });
  const client = new JudgeClient(settings, { JUDGE_KEY: key });
  opened.push(client);
  const reward = new ModelJudge({ shared: client, settings });
  return { server, client, score: async (episode: EpisodeView) => reward.score(episode) };
}

const episode = (content: string): EpisodeView => ({
  ...episodeOf({ prompt: 'Capital of France?', metadata: { answer: 'Paris' } }, []),
  messages: [{ role: 'assistant', content }],
});
const unanswered = episodeOf({}, [{ said: 'x' }]);

describe('The reward model_judge', () => {
  test('calls an OpenAI-compatible server and scales its score to [0, 1]', async () => {
    const { server, client, score } = await judge(() => scored(7));
    expect(await score(episode('Paris'))).toBe(0.7);
    const [{ method, path, headers, body } = {} as GotRequest] = server.requests;
    expect([method, path]).toEqual(['POST', '/v1/chat/completions']);
    expect(headers.authorization).toBe(`Bearer ${key}`);
    const required = ['reason', 'score'];
    expect(body).toMatchObject({
      model: 'judge',
      temperature: 0,
      max_tokens: 512,
      messages: [{ role: 'system' }, { role: 'user' }],
      response_format: { type: 'json_schema', json_schema: { strict: true, schema: { required } } },
    });
    const tokens = { promptTokens: 181, completionTokens: 23 };
    expect(client.report()).toMatchObject({ judged: 1, requests: 1, networkCalls: 1, ...tokens });
  });

  test('sends and expects what the settings say', async () => {
    const scale = { reply: 'number', lowest: 1, highest: 5 } as const;
    const asked = { template: 'How polite? {answer}', instruction: 'Judge politeness.' };
    const sampling = { parameters: { seed: 7 }, temperature: 0.5, maxTokens: 3 };
    const { server, score } = await judge(() => given('4'), { ...scale, ...asked, ...sampling });
    expect(await score(unanswered)).toBe(0.75);
    const { body } = server.requests[0] as GotRequest;
    expect(body).toMatchObject({ seed: 7, temperature: 0.5, max_tokens: 3 });
    expect(body).not.toHaveProperty('response_format');
    expect(JSON.stringify(body['messages'])).toContain('Judge politeness.');
  });

  test('is 0 without a request if the final message is judged but missing', async () => {
    const { server, score } = await judge(() => scored(10), { template: '{answer}' });
    expect(await score({ ...episode(''), messages: [] })).toBe(0);
    expect(server.requests).toEqual([]);
  });
});

test('is blind without a reference answer in its template, so that it may choose among attempts', () => {
  const { blind } = rewards.specOf(ModelJudge) ?? {};
  const withTemplate = (template: string) => typeof blind === 'function' && blind({ template });
  expect(withTemplate('{task} {answer}')).toBe(true);
  expect(withTemplate('{task} {reference} {answer}')).toBe(false);
});

describe("A judge's answer", () => {
  const cassette = (mode: 'record' | 'replay') => ({
    mode,
    path: join(folder, `judge-${expect.getState().currentTestName?.length}.jsonl`),
  });

  test('is recorded by request, so that repetitions and replays cost nothing', async () => {
    const first = await judge(() => scored(7), { cassette: cassette('record') });
    const same = [episode('Paris'), episode('Rome'), episode('Paris')];
    expect(await Promise.all(same.map(first.score))).toEqual([0.7, 0.7, 0.7]);
    expect(first.server.requests).toHaveLength(2);
    const calls = { judged: 3, networkCalls: 2, cassetteHits: 1, promptTokens: 2 * 181 };
    expect(first.client.report()).toMatchObject(calls);
    const file = readFileSync(cassette('record').path, 'utf8');
    expect(file).toContain(`"key":"`);
    expect(file).not.toContain(key);
    await first.client.close();
    // A replay needs neither a key nor a server.
    const url = `${first.server.url}/v1/`;
    const replayed = settingsOf({ url, apiKeyEnv: 'JUDGE_KEY', cassette: cassette('replay') });
    const again = new JudgeClient(replayed, {});
    opened.push(again);
    const reward = new ModelJudge({ shared: again, settings: replayed });
    expect(await reward.score(episode('Paris'))).toBe(0.7);
    expect(again.report()).toMatchObject({ networkCalls: 0, promptTokens: 0, cassetteHits: 1 });
  });

  test('fails again from the record if it has no score', async () => {
    const { server, score } = await judge(() => given('no idea'), { cassette: cassette('record') });
    await expect(score(episode('Paris'))).rejects.toThrow('no idea');
    await expect(score(episode('Paris'))).rejects.toThrow('no idea');
    expect(server.requests).toHaveLength(1);
  });
});

describe('A failing judge', () => {
  const failing = async (answer: DoubleAnswer, changes: Partial<ModelJudgeSettings> = {}) => {
    const { server, score } = await judge(() => answer, { maxRetries: 1, ...changes });
    const thrown: unknown = await score(episode('Paris')).catch((error: unknown) => error);
    return { thrown, message: String(thrown), requests: server.requests.length };
  };

  test.each([
    ['a busy server', { status: 503, json: {} }, 2, 'answers 503'],
    ['a broken connection', 'cut', 2, 'cannot be reached'],
    ['a refused request', { status: 400, json: { error: { message: 'long' } } }, 1, 'long'],
    ['no completion', { status: 200, json: { choices: [] } }, 1, 'is not a chat completion'],
  ] as const)('throws a temporary failure: %s', async (_, answer, requests, text) => {
    const failure = await failing(answer);
    expect(failure.message).toContain(text);
    expect(failure.requests).toBe(requests);
    expect(failureOf(failure.thrown).retryable).toBe(true);
  });

  test.each([
    ['no score', given('I refuse.'), 'it is not JSON'],
    ['a truncated answer', given('{"reason": "', { finishReason: 'length' }), 'maxTokens = 512'],
    ['another end', given('{"score": 10}', { finishReason: 'abort' }), '"abort"'],
  ])('throws a permanent failure: %s', async (_, answer, text) => {
    const failure = await failing(answer);
    expect(failure.message).toContain(text);
    expect(failure.requests).toBe(1);
    expect(failureOf(failure.thrown).retryable).toBe(false);
  });

  test('fails at its deadline without an answer', async () => {
    const { message } = await failing(undefined, { timeoutS: 0.02, maxRetries: 0 });
    expect(message).toContain('no answer within 0.02 s');
  });

  test('ends the run if it rejects the key, without the key in the message', async () => {
    const { thrown, message } = await failing({ status: 401, json: { error: `bad key ${key}` } });
    expect((thrown as { code?: string }).code).toBe('WEB_REQUEST_DENIED');
    expect(message).toContain('Check url, model and apiKeyEnv');
    expect(message).not.toContain(key);
  });
});

describe('Opening a judge refuses', () => {
  test.each([
    [{ template: 'How was it?' }, 'template does not contain'],
    [{ lowest: 1, highest: 1 }, 'lowest is 1 and highest 1'],
    [{ parameters: { stream: true } }, 'parameters.stream is'],
    [{ url: 'http://me:pass@host/v1' }, 'url must not contain'],
    [{ url: 'http://' }, 'is not a URL'],
    [{ budget: { maxCost: 1, costPerCall: 0 } }, 'budget.costPerCall'],
  ])('%j', (changes, problem) => {
    expect(() => new JudgeClient(settingsOf(changes), {})).toThrow(problem);
  });

  test('an unset key', async () => {
    const open = rewards.specOf(ModelJudge)?.open;
    const opening = open?.(settingsOf({ apiKeyEnv: 'NO_KEY' }), { environment: {}, tasks: [] });
    await expect(opening).rejects.toThrow('the environment variable NO_KEY, which is not set.');
  });
});

describeRewardContract('model_judge', {
  plugin: ModelJudge,
  score: async (view) => {
    const right = (body: GotRequest['body']) => JSON.stringify(body).includes('  Paris');
    const { score } = await judge(({ body }) => scored(right(body) ? 10 : 0));
    return score(view);
  },
  better: episode('Paris'),
  worse: episode('Rome'),
  notApplicable: [unanswered],
});
