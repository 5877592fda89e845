import { readdirSync, readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { type OwnLoop, openStub, ownLoop, ownLoops, thrownOf } from '../support/own-loops.ts';
import { until } from '../support/until.ts';

const secret = 'sk-abcdefghijkl';
const { open, close } = ownLoops({
  ...process.env,
  OWN_KEY: secret,
  OTHER_TOKEN: 'not-for-agents',
});
let stub: Awaited<ReturnType<typeof openStub>>;
beforeAll(async () => {
  stub = await openStub();
});
afterAll(async () => {
  await close();
  await stub.close();
});

const { signal } = new AbortController();

/** Whether a process is there and no zombie. */
function isRunning(pid: number): boolean {
  if (!readdirSync('/proc').includes(`${pid}`)) return false;
  return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

describe('A program in Python that is an agent', () => {
  let agent: OwnLoop;
  beforeAll(async () => {
    agent = await open({ command: ['python3', ownLoop('agent.py')], env: ['OWN_KEY'] });
  });

  test('calls the model by the address and key in its environment and prints the answer', async () => {
    const { environment, answer } = agent.play('What is 6 times 7?', {
      baseURL: stub.baseURL,
      apiKey: 'k1',
    });
    expect(await answer).toBe('What is 6 times 7?');
    expect(stub.asked).toEqual(['POST /v1/chat/completions Bearer k1']);
    const verdict = await environment.finish('done', signal, '42');
    expect(verdict).toMatchObject({ success: true, record: { stderr: 'asked once' } });
  });

  test('fails with its output, without secrets, when its exit code is not 0', async () => {
    const { environment, answer } = agent.play('exit');
    const thrown = (await thrownOf(answer)) as Error;
    expect(thrown.message).toMatch(
      /^python3 .*agent\.py exited with code 3\. It wrote to stderr:\n.*\\x1b\[31mgave up, key \[redacted\]/s,
    );
    expect(environment.isModelError(thrown)).toBe(false);
  });

  test('is stopped when it prints endlessly', async () => {
    const small = await open({ command: ['python3', ownLoop('agent.py')], mostOutputKiB: 64 });
    await expect(small.play('flood').answer).rejects.toThrow(
      /printed more than 65536 bytes \(environment\.mostOutputKiB\)/,
    );
  });

  test('inherits only the usual and the named environment variables', async () => {
    const names = JSON.parse((await agent.play('env').answer) as string) as string[];
    expect(names).toEqual(
      expect.arrayContaining(['OWN_KEY', 'PATH', 'OPENAI_BASE_URL', 'OPENAI_API_KEY']),
    );
    expect(names).not.toContain('OTHER_TOKEN');
  });

  test('is stopped together with its children when its rollout ends', async () => {
    const deadline = new AbortController();
    const { environment, answer } = agent.play('hang', { signal: deadline.signal });
    setTimeout(() => deadline.abort(new Error('the rollout is over')), 1500);
    expect(await thrownOf(answer)).toMatchObject({ message: 'the rollout is over' });
    const { record } = await environment.finish('aborted', signal, undefined);
    const child = Number((record as { stderr: string }).stderr);
    expect(child).toBeGreaterThan(1);
    await until(() => !isRunning(child));
  });
});

describe('An agent in a process of its own', () => {
  let agent: OwnLoop;
  beforeAll(async () => {
    agent = await open({ agent: ownLoop('agent.mjs'), isolation: 'process', mostOutputKiB: 64 });
  });

  test('answers with any value, and its output is only logged', async () => {
    const { baseURL } = stub;
    expect(await agent.play('x').answer).toMatchObject({ prompt: 'x', apiKey: 'key-of-rollout' });
    expect(await agent.play('ask', { baseURL }).answer).toBe('42');
    expect(await agent.play('nothing').answer).toBeUndefined();
    const { environment, answer } = agent.play('print');
    expect(await answer).toMatchObject({ prompt: 'print' });
    const { record } = await environment.finish('done', signal, undefined);
    expect(record).toEqual({ stderr: 'for people' });
  });

  test('may leak listeners, leave timers running and write endlessly to stderr', async () => {
    for (const prompt of ['leak', 'late']) await agent.play(prompt).answer;
    const { environment, answer } = agent.play('flood-stderr');
    await answer;
    const { record } = await environment.finish('done', signal, undefined);
    expect((record as { stderr: string }).stderr.length).toBeLessThanOrEqual(16 * 1024);
  });

  test('fails when it exits', async () => {
    await expect(agent.play('die').answer).rejects.toThrow(
      /^The agent .*agent\.mjs exited with code 3\. It wrote nothing/,
    );
  });

  test('is stopped at the deadline when it loops', async () => {
    const looping = agent.play('loop', { signal: AbortSignal.timeout(500) });
    await expect(looping.answer).rejects.toThrow(/timeout/);
  });
});
