import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { Generator } from '#agent_rl/core/services/generator.ts';
import type { TopScores } from '#agent_rl/core/services/learner.ts';
import { type Scorer, scorerOf } from '#agent_rl/core/services/scorer.ts';
import { tokenIdsDialect } from '#agent_rl/generation/openai/token-ids-dialect.ts';
import { askedOf, askForScores } from '#agent_rl/generation/remote/ask-for-scores.ts';
import { RemoteServer } from '#agent_rl/generation/remote/remote-server.ts';
import { HttpClient } from '#agent_rl/http/http-client.ts';
import { closedAfterAll } from '../support/closed-after-each.ts';
import { openedOpenai } from '../support/openai/opened-openai.ts';
import type { RealServer } from '../support/real-server.ts';
import { localEngine } from '../support/sampled-gaps.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openedVllm, starter } from '../support/vllm/opened-vllm.ts';
import { servable, startVllm, vllmProgram } from '../support/vllm/real-vllm.ts';

// A real vLLM on a CPU scores prompts as our engine does. See `vllm.test.ts` for the environment.

const folder = temporaryFolder();
const closing = closedAfterAll();
let server: RealServer;
let ours: Scorer;

beforeAll(async () => {
  const model = await servable(starter, join(folder, 'served'));
  server = await startVllm(vllmProgram(folder), model, { log: join(folder, 'vllm.log') });
  const engine = await localEngine(starter, { scores: { longestTokens: 256 }, trains: false });
  closing.push(engine);
  ours = scorerOf(engine.learner);
  await server.ready;
});
afterAll(() => server.kill());

/** Likely tokens and unlikely ones, in sequences of several lengths. */
const sequences = Array.from(
  { length: 12 },
  (_, i) => new Int32Array(new KeyedRng('scored', i).integers(8 + 18 * i, 1024)),
);
const topK = 8;
const asked = { temperature: 1, topK };
const patient = { deadlineS: 1200 };

const openings: [string, () => Promise<Generator>][] = [
  ['vllm', async () => (await openedVllm([server.url], patient)).generator],
  ['openai', async () => (await openedOpenai([server.url], patient)).generator],
];

function gaps(theirs: readonly TopScores[], expected: readonly TopScores[]) {
  const of = (pick: (one: TopScores) => Float32Array): number[] =>
    theirs.flatMap((one, i) =>
      [...pick(one)].map((value, place) => Math.abs(value - pick(expected[i]!)[place]!)),
    );
  return { own: of(({ logProbs }) => logProbs), top: of(({ top }) => top.logProbs) };
}

const summary = (values: readonly number[]): string =>
  `up to ${Math.max(...values)}, ${values.reduce((sum, one) => sum + one, 0) / values.length} on average over ${values.length}`;

test.each(openings)(
  'the generator %s scores given tokens as the engine does',
  async (name, open) => {
    const generator = await open();
    closing.push(generator);
    const theirs = await generator.scoreTop!(sequences, asked);
    const expected = await ours.scoreTop!(sequences, asked);
    const { own, top } = gaps(theirs, expected);
    process.stderr.write(`${name}, nats: tokens ${summary(own)}; likeliest ${summary(top)}\n`);
    expect(Math.max(...own, ...top)).toBeLessThan(1e-3);
    // Neighbours in the order of likelihood may change places where they are equal.
    const idsOf = (all: readonly TopScores[]) => all.flatMap((one) => Array.from(one.top.ids));
    const [ids, known] = [idsOf(theirs), idsOf(expected)];
    expect(ids.filter((id, i) => id === known[i]).length / ids.length).toBeGreaterThan(0.999);
    const plain = await generator.score!(sequences, { temperature: 1 });
    expect(plain).toEqual(theirs.map(({ logProbs }) => logProbs));
  },
);

test('a server scores by echo as the engine does', async () => {
  const http = new HttpClient({
    url: server.url,
    connections: 1,
    pauseMs: 200,
    onRetry: () => undefined,
  });
  const remote = new RemoteServer({ url: server.url, http, requestsAtOnce: 1, model: 'starter' });
  closing.push(remote);
  const { scoring: way } = tokenIdsDialect.protocol({
    vocabSize: 1024,
    onPassed: () => undefined,
  });
  const { signal } = new AbortController();
  const options = { way, topK, version: undefined, deadlineS: 1200 };
  const theirs: TopScores[] = [];
  for (const one of sequences)
    theirs.push(await askForScores(remote, askedOf(one), options, signal));
  const { own, top } = gaps(theirs, await ours.scoreTop!(sequences, asked));
  process.stderr.write(`echo, nats: tokens ${summary(own)}; likeliest ${summary(top)}\n`);
  expect(Math.max(...own, ...top)).toBeLessThan(1e-3);
});
