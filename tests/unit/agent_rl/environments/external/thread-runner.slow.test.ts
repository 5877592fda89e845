import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { type OwnLoop, openStub, ownLoop, ownLoops, thrownOf } from '#tests/support/own-loops.ts';

const { open, close } = ownLoops({ ...process.env, OWN_SETTING: 'yes', OWN_SECRET: 'no' });
let agent: OwnLoop;
let stub: Awaited<ReturnType<typeof openStub>>;
beforeAll(async () => {
  stub = await openStub();
  agent = await open({ agent: ownLoop('agent.mjs'), env: ['OWN_SETTING'] });
});
afterAll(async () => {
  await close();
  await stub.close();
});

const played = async (prompt: string) => agent.play(prompt).answer;
const saidBy = async (answer: Promise<unknown>) => String(await thrownOf(answer));
const aborting = (ms: number) => AbortSignal.timeout(ms);

describe('An agent in a thread', () => {
  test('receives its task, keyed random numbers, and the URL and the key of its rollout', async () => {
    const [first, again] = await Promise.all([played('x'), played('x')]);
    const access = { baseURL: 'http://127.0.0.1:9/v1', apiKey: 'key-of-rollout' };
    expect(first).toEqual({ prompt: 'x', drawn: expect.any(Number), ...access });
    expect(again).toEqual(first);
    expect(await played('nothing')).toBeUndefined();
  });

  test('reaches the model of its rollout at any host', async () => {
    const { baseURL } = stub;
    expect(await agent.play('ask', { baseURL, apiKey: 'k1' }).answer).toBe('42');
    const answer = await agent.play('request', { baseURL, apiKey: 'k2' }).answer;
    expect(answer).toEqual({ url: '/v1/models', own: 'yes' });
    const chat = 'POST /v1/chat/completions?x=1 Bearer k1';
    expect(stub.asked).toEqual([chat, 'GET /v1/models Bearer k2']);
  });

  test('separates rollouts with concurrent requests', async () => {
    const { baseURL } = stub;
    const answers = Array.from({ length: 64 }, async (_, i) => {
      const task = { taskId: `${i}`, prompt: 'ask', answer: `${i}`, aliases: [], metadata: {} };
      return agent.play('ask', { baseURL, apiKey: `k${i}`, task }).answer;
    });
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 64 }, (_, i) => `${i}`));
  });

  test("reports its errors by name, and which are the model's", async () => {
    const { environment, answer } = agent.play('throw');
    const thrown = await thrownOf(answer);
    const cause = { name: 'TypeError', message: 'inside' };
    expect(thrown).toMatchObject({ name: 'Error', message: 'broken', cause });
    expect((thrown as Error).stack).toContain('agent.mjs');
    expect(environment.isModelError(thrown)).toBe(false);
    for (const prompt of ['model', 'own'])
      expect(environment.isModelError(await thrownOf(played(prompt)))).toBe(true);
  });

  test('only inherits the usual and the named environment variables', async () => {
    const names = (await played('env')) as string[];
    expect(names).toContain('OWN_SETTING');
    expect(names).toContain('PATH');
    expect(names).not.toContain('OWN_SECRET');
  });

  test('may leak listeners, promises and timers, and print', async () => {
    for (const prompt of ['leak', 'print', 'late', 'stray'])
      await expect(played(prompt)).resolves.toBeDefined();
    expect(await played('y')).toMatchObject({ prompt: 'y' });
  });

  test('must answer with JSON', async () => {
    expect(await saidBy(played('cyclic'))).toContain('circular');
  });

  test('is abandoned at its deadline if it hangs, and the others continue', async () => {
    const hanging = agent.play('hang', { signal: aborting(200) });
    expect(await saidBy(hanging.answer)).toContain('timeout');
    expect(await played('z')).toMatchObject({ prompt: 'z' });
  });

  test('fails its rollouts if the thread dies, and the next one has a new thread', async () => {
    const hanging = agent.play('hang');
    const both = await Promise.all([saidBy(played('die')), saidBy(hanging.answer)]);
    for (const said of both) expect(said).toMatch(/The thread of the agent .* ended: .*code 3/);
    expect(await played('after')).toMatchObject({ prompt: 'after' });
  });

  test('is ended if it blocks the thread past a deadline, and the next one has a new thread', async () => {
    const looping = agent.play('loop', { signal: aborting(200) });
    const other = agent.play('hang');
    expect(await saidBy(looping.answer)).toContain('timeout');
    const blocked = 'ended: it was stopped because it was blocked';
    expect(await saidBy(other.answer)).toContain(blocked);
    expect(await played('after')).toMatchObject({ prompt: 'after' });
  }, 30_000);

  test('may be exported by name from TypeScript', async () => {
    const typed = await open({ agent: ownLoop('typed-agent.ts') });
    expect(await typed.play('hello').answer).toMatch(/^hello \d$/);
  });
});
