import { afterEach, expect, test } from '@jest/globals';

import type { GeneratorHost } from '#agent_rl/core/plugins/model/generator.ts';
import { greedy, type Generator, unbiased } from '#agent_rl/core/services/generator.ts';
import { tinkerGenerator } from '#agent_rl/generation/tinker/tinker-generator.ts';
import { request as requestOf } from '#tests/support/generation-request.ts';
import { expectRejection, rejectionOf } from '#tests/support/thrown.ts';
import { recording } from '#tests/support/tinker/recording.ts';
import {
  type Changes,
  json,
  type ReplayedService,
  replayedService,
} from '#tests/support/tinker/replayed-service.ts';
import { adapterHost } from '#tests/support/tinker/tried-generator.ts';

const { exchanges, logProbs } = recording().scenarios['tokens']!;
let service: ReplayedService;
let generator: Generator | undefined;
afterEach(async () => {
  await generator?.close();
  generator = undefined;
  await service.close();
});

async function opened(
  changes: Changes = {},
  over: Partial<GeneratorHost> = {},
  deadlineS = 60,
): Promise<Generator> {
  service = await replayedService(exchanges, changes);
  const settings = { url: service.url, deadlineS, patienceS: 0 };
  generator = await tinkerGenerator(settings, adapterHost(over));
  return generator;
}

const request = requestOf('a', { tokens: [1, 300, 301], stopTokens: [2] });
type Answer = NonNullable<ReturnType<NonNullable<Changes['instead']>>>;
/** The service answers so where it is asked for what it drew. */
const answering = (answer: Answer): Changes => ({
  instead: ({ path }) => (path.endsWith('/retrieve_future') ? answer : undefined),
});

/** The address of the learner's weights in the captured exchanges. */
const location = exchanges
  .map(({ json: body }) => (body as { model_path?: string } | undefined)?.model_path)
  .find((path) => path !== undefined)!;

test('the generator draws from the model, then from weights a learner left at the service, under their version', async () => {
  const one = await opened();
  const before = await one.generate(request);
  await one.use!({ version: 1, kind: 'service', location });
  const after = await one.generate({ ...request, sampling: greedy });
  for (const [i, drawn] of [before, after].entries()) {
    expect(drawn.logProbs).toEqual(logProbs[i]);
    expect(drawn.tokens).toHaveLength(drawn.logProbs.length);
    expect([drawn.stop, drawn.version]).toEqual(['max-tokens', i]);
  }
  expect(service.unknown).toEqual([]);
});

test('the description takes weights that stay at the service and promises no reproducibility', async () => {
  const info = await (await opened()).describe();
  expect(info).toMatchObject({ reproducible: false, takes: ['service'], service: service.url });
});

test.each([
  ['a temperature', { ...unbiased, temperature: 0.7 }],
  ['truncation', { ...unbiased, topP: 0.9 }],
])('%s is refused, since only the unmodified model has scores', async (_, sampling) => {
  const opening = opened({}, { samplings: [unbiased, sampling] });
  expect(await rejectionOf(opening)).toMatchObject({ code: 'CONFIG_INVALID' });
});

const varint = (size: number): number[] =>
  size < 128 ? [size] : [(size & 127) | 128, ...varint(size >> 7)];

/** SampleResponse of one sequence. */
const sequence = (tokens: number[], values: number[]): Buffer => {
  const bytes = (field: number, body: Buffer) =>
    Buffer.concat([Buffer.from([8 * field + 2, ...varint(body.length)]), body]);
  const ids = Buffer.from(Int32Array.from(tokens).buffer);
  const logs = Buffer.from(Float32Array.from(values).buffer);
  return bytes(1, Buffer.concat([bytes(2, ids), bytes(3, logs)]));
};

test.each([
  ['ids beyond the vocabulary', sequence([5, 5000], [-1, -1]), 'tokens[1] is 5000'],
  ['log-probabilities without a value', sequence([5, 2], [-1, Number.NaN]), 'logProbs[1] is NaN'],
  ['fewer tokens than were asked for', sequence([5, 6], [-1, -1]), 'only 2 of 6 tokens'],
  ['fewer log-probabilities than tokens', sequence([5, 2], [-1]), 'logProbs has 1'],
  ['no sequence', Buffer.alloc(0), 'no sequence'],
  ['bytes that are no message', Buffer.from([0x0a, 0x7f]), 'unreadable answer'],
])('%s fail the request', async (_, body, text) => {
  const one = await opened(answering({ status: 200, type: 'application/x-protobuf', body }));
  await expectRejection(one.generate(request), 'GENERATION_FAILED', text);
});

test('a turn too long for the deadline of a slow service is requested in parts', async () => {
  const sixteen = Array.from({ length: 16 }, (_, i) => 5 + i);
  const asked: { prompt: { chunks: [{ tokens: number[] }] }; sampling_params: { seed: number } }[] =
    [];
  const parts = answering({
    status: 200,
    type: 'application/x-protobuf',
    body: sequence(sixteen, Array(16).fill(-1) as number[]),
  });
  const instead: Changes['instead'] = (...given) => {
    const [{ path, bytes }] = given;
    if (!path.endsWith('/asample')) return parts.instead!(...given);
    asked.push(JSON.parse(bytes.toString()) as (typeof asked)[0]);
    return json(200, { request_id: 'one' });
  };
  const one = await opened({ instead }, {}, 1);
  const drawn = await one.generate({ ...request, maxTokens: 20 });
  expect(drawn).toMatchObject({ tokens: [...sixteen, 5, 6, 7, 8], stop: 'max-tokens' });
  expect(asked.map(({ prompt }) => prompt.chunks[0].tokens.length)).toEqual([3, 19]);
  expect(asked[0]!.sampling_params.seed).not.toBe(asked[1]!.sampling_params.seed);
  const stopped = await one.generate({ ...request, maxTokens: 20, stopTokens: [20] });
  expect([stopped.tokens, stopped.stop, asked.length]).toEqual([sixteen, 'stop-token', 3]);
});

test('weights that the service has lost fail the request and may be retried', async () => {
  const one = await opened(answering(json(400, { detail: 'Model model_1 not loaded' })));
  expect(await rejectionOf(one.generate(request))).toMatchObject({ code: 'GENERATION_FAILED' });
});

test('an aborted request is not an error, and a request without room sends nothing', async () => {
  const abort = new AbortController();
  const one = await opened({
    instead: ({ path }) => {
      if (path.endsWith('/asample')) abort.abort();
      return undefined;
    },
  });
  expect((await one.generate(request, abort.signal)).stop).toBe('aborted');
  const full = Array.from({ length: 64 }, () => 1);
  expect(await one.generate({ ...request, tokens: full })).toMatchObject({ stop: 'context-full' });
});
