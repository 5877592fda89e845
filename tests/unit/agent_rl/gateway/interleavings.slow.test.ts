import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import PQueue from 'p-queue';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { rollouts } from '#agent_rl/core/services/rollout-scope.ts';
import { rolloutFetch } from '#agent_rl/gateway/index.ts';
import {
  askBy,
  calling,
  type ChatAnswer,
  path,
  post,
  result,
  said,
  tool,
  user,
} from '#tests/support/agent-client.ts';
import { scriptedGateway } from '#tests/support/scripted-gateway.ts';
import { errorOf } from '#tests/support/thrown.ts';

/*
 * Agents of many rollouts in one process, which share what their modules hold.
 */

type Fetch = typeof fetch;

const queue = new PQueue({ concurrency: 3 });
const emitter = new EventEmitter();
emitter.on('job', (job: () => void) => job());

/** Collects what is asked in one tick, and asks it together, as data loaders do: in the context of the first. */
class Batch {
  #jobs: (() => void)[] = [];

  load<Value>(job: () => Promise<Value>): Promise<Value> {
    if (this.#jobs.length === 0)
      queueMicrotask(() => {
        const jobs = this.#jobs;
        this.#jobs = [];
        for (const one of jobs) one();
      });
    return new Promise((resolve, reject) => {
      this.#jobs.push(() => job().then(resolve, reject));
    });
  }
}
const batch = new Batch();

type Way = (context: { fetch: Fetch }, ask: (fetch: Fetch) => Promise<unknown>) => Promise<unknown>;

/** How agents ask, so that the request is that of their rollout. */
const ways: readonly Way[] = [
  (_, ask) => ask(rolloutFetch),
  ({ fetch }, ask) => queue.add(() => ask(fetch)),
  (_, ask) => queue.add(AsyncResource.bind(() => ask(rolloutFetch))),
  ({ fetch }, ask) => batch.load(() => ask(fetch)),
  ({ fetch }, ask) =>
    new Promise((resolve, reject) => {
      emitter.emit('job', () => void ask(fetch).then(resolve, reject));
    }),
];

const many = 64;

/** Lets waiting agents go on one by one, in an order of its own. */
class Turns {
  readonly #waiting: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async play<Value>(agents: readonly Promise<Value>[], rng: KeyedRng): Promise<Value[]> {
    const state = { over: false };
    const all = Promise.all(agents).finally(() => (state.over = true));
    while (!state.over) {
      const at = rng.integer(Math.max(1, this.#waiting.length));
      const [next] = this.#waiting.splice(at, 1);
      if (next === undefined) await new Promise(setImmediate);
      next?.();
      if (rng.integer(4) === 0) await Promise.resolve();
    }
    return all;
  }
}

test('each request belongs to its own rollout in 10,000 interleavings of 64 rollouts', async () => {
  const doors = Array.from({ length: many }, (_, index): { fetch: Fetch } => ({
    fetch: async () => index as unknown as Response,
  }));
  let wrong = 0;
  let asked = 0;
  rollouts.open += 1;
  for (let run = 0; run < 10_000; run++) {
    const rng = new KeyedRng('interleavings', run);
    const turns = new Turns();
    const agents = doors.map((door, index) => {
      const way = ways[rng.integer(ways.length)]!;
      return rollouts.scope.run(door, async () => {
        await turns.wait();
        const answer = await way(door, (fetch) => fetch('http://model/'));
        asked += 1;
        wrong += Number(answer !== index);
      });
    });
    await turns.play(agents, rng);
  }
  rollouts.open -= 1;
  expect({ asked, wrong }).toEqual({ asked: 640_000, wrong: 0 });
});

describe('A gateway with 64 sessions at once', () => {
  /** Calls a tool once, and then says whose question it was. */
  const naming = (prompt: string): string => {
    const name = /question of (?<name>r\d+)/.exec(prompt)?.groups?.['name'] ?? '';
    return prompt.includes('<tool_response>')
      ? `t</think>${name} has it`
      : calling('search', name, name);
  };
  const tools = [tool('search')];
  let opened: Awaited<ReturnType<typeof scriptedGateway>>;
  beforeAll(async () => {
    opened = await scriptedGateway(naming);
  });
  afterAll(() => opened.gateway.close());

  test('gives each session its own turns and no others', async () => {
    for (let run = 0; run < 12; run++) {
      const rng = new KeyedRng('sessions', run);
      const turns = new Turns();
      const agents = Array.from({ length: many }, (_, index) => {
        const door = opened.enter(`r${index}`);
        const way = ways[rng.integer(ways.length)]!;
        const messages = [user(`A question of r${index}`)];
        const ask = (fetch: Fetch) => askBy(fetch)({ messages, tools });
        return rollouts.scope.run(door, async () => {
          await turns.wait();
          const called = (await way(door, ask)) as ChatAnswer;
          messages.push(said(called), result(called, 'found'));
          await turns.wait();
          const last = (await way(door, ask)) as ChatAnswer;
          const answer = last.choices[0]?.message.content;
          return { answer, record: await door.end(answer) };
        });
      });
      for (const [index, { answer, record }] of (await turns.play(agents, rng)).entries()) {
        expect(answer).toBe(`r${index} has it`);
        expect(record).toMatchObject({
          sequences: [expect.anything()],
          requests: { turns: 2, delivered: 2, replayed: 0 },
          failure: undefined,
          undelivered: 0,
        });
        const text = opened.text.tokenizer.decode(record.sequences[0]!.tokens);
        expect(new Set(text.match(/r\d+/g))).toEqual(new Set([`r${index}`]));
      }
    }
  });

  test('serves concurrent requests over HTTP, each rollout with its key', async () => {
    const doors = Array.from({ length: 16 }, (_, index) => opened.enter(`r${index}`));
    const answers = doors.map(async ({ baseURL, apiKey }, index) => {
      const body = { messages: [user(`A question of r${index}`)], tools, n: 2 };
      const headers = { authorization: `Bearer ${apiKey}` };
      const response = await fetch(`${baseURL}/chat/completions`, post(body, { headers }));
      return (await response.json()) as ChatAnswer;
    });
    for (const [index, { choices }] of (await Promise.all(answers)).entries())
      expect(choices[0]?.message.reasoning_content).toBe(`r${index}`);
    for (const door of doors) expect((await door.end('x')).requests.turns).toBe(2);
  });

  test('rolloutFetch outside a rollout throws and names what to use', async () => {
    const asking = rolloutFetch(path, post({ messages: [user('Q')] }));
    await expect(asking).rejects.toThrow('context.fetch');
  });

  test('a request with a turn of another rollout ends the run', async () => {
    const [one, other] = [opened.enter('r1'), opened.enter('r2')];
    const messages = [user('A question of r1')];
    const first = await askBy(one.fetch)({ messages, tools });
    const next = { messages: [...messages, said(first), result(first, 'found')], tools };
    const mixed = errorOf('ROLLOUTS_MIXED', 'context.fetch');
    await expect(askBy(other.fetch)(next)).rejects.toMatchObject(mixed);
    expect((await other.end('x')).failure).toMatchObject(mixed);
    expect((await one.end('x')).failure).toBeUndefined();
  });

  test('an agent that only sent requests on behalf of another rollout causes one warning', async () => {
    const shared = new PQueue({ concurrency: 1 });
    const doors = ['r3', 'r4', 'r5'].map((name) => opened.enter(name));
    const ask = () => askBy(rolloutFetch)({ messages: [user('A question of r3')] });
    await Promise.all(doors.map((door) => rollouts.scope.run(door, () => shared.add(ask))));
    const records = await Promise.all(doors.map((door) => door.end('an answer')));
    expect(records.map(({ requests }) => requests.turns)).toEqual([3, 0, 0]);
    expect(
      opened.notes.filter((note) => note.includes('no model request was recorded')),
    ).toHaveLength(1);
  });
});
