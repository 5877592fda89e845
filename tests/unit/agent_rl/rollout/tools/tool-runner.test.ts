import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';

import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { Tool, ToolContext, ToolSpec } from '#agent_rl/core/plugins/tool.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { until } from '#tests/support/until.ts';

const closed = { additionalProperties: false };
const spec = {
  name: 'adder',
  description: 'Adds',
  parameters: Type.Object({ a: Type.Number(), b: Type.Optional(Type.Integer()) }, closed),
  deadlineS: 0.02,
  maxContentChars: 10,
} satisfies ToolSpec;

const runWith = async (
  behave: (args: never, context: ToolContext) => unknown,
  call: { name?: string; arguments?: Record<string, unknown> } = {},
  signal = new AbortController().signal,
  runner = new ToolRunner([spec]),
) => {
  const tool = { call: async (args: never, context: ToolContext) => behave(args, context) } as Tool;
  return runner.run(
    { id: 'call_0_0', name: 'adder', arguments: { a: 1 }, ...call },
    {
      tools: new Map([['adder', tool]]),
      inputs: { hidden: 5 },
      idempotencyKey: 'call',
      randomPath: [1, 'x'],
      signal,
    },
  );
};

describe('ToolRunner', () => {
  test('passes arguments, hidden inputs and keyed random numbers to the tool', async () => {
    const seen: unknown[] = [];
    const executed = await runWith((args, { inputs, random }) => {
      seen.push(args, inputs, random.uniform());
      return { content: 'ok' };
    });
    expect(executed).toMatchObject({ status: 'ok', result: { content: 'ok' } });
    expect(seen).toEqual([{ a: 1 }, { hidden: 5 }, new KeyedRng(1, 'x').uniform()]);
  });

  test('answers a call of an unknown tool with the known tools', async () => {
    const executed = await runWith(() => ({ content: 'ok' }), { name: 'addre' });
    expect(executed).toMatchObject({ status: 'rejected', result: { isError: true } });
    expect(executed.result.content).toBe('Error: there is no tool named "addre". Tools: adder.');
  });

  test.each([
    [{}, "must have required property 'a'"],
    [{ a: 'one' }, 'a must be number'],
    [{ a: 1, b: 1.5 }, 'b must be integer'],
    [{ a: 1, c: 2 }, 'must NOT have additional properties (c)'],
  ])('answers invalid arguments %j with the problem and what is allowed', async (args, problem) => {
    let ran = 0;
    const { status, result } = await runWith(() => (ran += 1), { arguments: args });
    expect([status, ran]).toEqual(['rejected', 0]);
    expect(result.content).toContain(problem);
    expect(result.content).toContain('Arguments: a (number), b (integer, optional).');
  });

  test('ends a tool that never settles at its deadline and aborts its signal', async () => {
    let signal: AbortSignal | undefined;
    const executed = await runWith((_, context) => {
      signal = context.signal;
      return new Promise(() => {});
    });
    expect(executed).toMatchObject({ status: 'timeout', result: { isError: true } });
    expect(executed.result.content).toContain('adder was stopped after 0.02 s without an answer');
    expect(signal?.aborted).toBe(true);
  });

  test('shows the model that a call failed, and logs the reason', async () => {
    const thrown = await runWith(() => {
      throw new Error('disk gone');
    });
    const result = { content: 'Error: adder failed on this call.', isError: true };
    expect(thrown).toMatchObject({ status: 'error', result });
    expect(thrown.problem).toMatch(/^Tool "adder" failed \(.*test\.ts:\d+:\d+\): disk gone$/);
    const none = 'must answer with { content: string }; got';
    const problemOf = async (answer: unknown) => (await runWith(() => answer)).problem;
    expect(await problemOf(42)).toContain(`${none} 42`);
    expect(await problemOf(undefined)).toContain(`${none} nothing`);
    expect(await problemOf({ content: Number.NaN })).toContain(`${none} content NaN`);
    const own = { content: 'no', isError: true };
    expect(await runWith(() => own)).toMatchObject({ status: 'error', result: own });
  });

  test('fails the episode instead, if the run says so', async () => {
    const runner = new ToolRunner([spec], [], new Map(), { throws: 'fail-episode' });
    const throws = () => Promise.reject(new Error('disk gone'));
    await expect(runWith(throws, {}, undefined, runner)).rejects.toThrow('disk gone');
  });

  test('times out a tool that blocks the process, and logs a remedy', async () => {
    const loops = (): { content: string } => {
      const end = performance.now() + 300;
      while (performance.now() < end);
      return { content: 'late' };
    };
    const runner = new ToolRunner([{ ...spec, deadlineS: 0.1 }]);
    expect(await runWith(loops, {}, undefined, runner)).toMatchObject({
      status: 'timeout',
      problem: expect.stringContaining('isolated: import.meta.url'),
    });
  });

  test('truncates long content with a note, without splitting a character', async () => {
    const long = await runWith(() => ({ content: 'x'.repeat(100 * 1024 * 1024), data: 1 }));
    expect(long.result.content).toBe('xxxxxxxxxx\n[cut: 10 of 104,857,600 characters shown]');
    expect(long.result.data).toBe(1);
    const emoji = await runWith(() => ({ content: 'xxxxxxxxx😀' }));
    expect(emoji.result.content).toBe('xxxxxxxxx\n[cut: 9 of 11 characters shown]');
    expect((await runWith(() => ({ content: '0123456789' }))).result.content).toBe('0123456789');
  });

  test('throws the reason when the rollout is cancelled', async () => {
    const cancelled = new AbortController();
    cancelled.abort(new Error('Ctrl-C'));
    const running = runWith(() => new Promise(() => {}), {}, cancelled.signal);
    await expect(running).rejects.toThrow('Ctrl-C');
  });
});

describe('An isolated tool', () => {
  const fixtures = new URL('../../../../fixtures/isolated-tools/', import.meta.url);
  const url = new URL('patient-tool.mjs', fixtures).href;
  const parameters = Type.Object({ do: Type.String() });
  const isolated = { name: 'patient', description: 'Misbehaves.', parameters, deadlineS: 1 };
  const never = new AbortController().signal;
  const call = async (runner: ToolRunner, what: string, signal = never, name = 'patient') =>
    runner.run(
      { id: 'call_0_0', name, arguments: { do: what } },
      { tools: new Map(), inputs: { secret: 7 }, idempotencyKey: 'call', randomPath: [3], signal },
    );

  test('answers from its thread, can be ended in a loop, and answers again', async () => {
    const runner = new ToolRunner([{ ...isolated, isolated: url }]);
    const expected = `hello 7 ${new KeyedRng(3).integer(1000)}`;
    expect((await call(runner, 'hello')).result.content).toBe(expected);
    expect(await call(runner, 'loop')).toMatchObject({ status: 'timeout' });
    expect((await call(runner, 'hello')).result.content).toBe(expected);
    const { problem } = await call(runner, 'throw');
    expect(problem).toMatch(/^Tool "patient" failed.*: broken inside$/);
    expect((await call(runner, 'environment')).result.content).toBe('{}');
    await runner.close();
  });

  test('has a limited number of threads, and waiting for one is not timed', async () => {
    const running = new Set<Worker>();
    let most = 0;
    const watch = (message: unknown): void => {
      const { worker } = message as { worker: Worker };
      running.add(worker);
      most = Math.max(most, running.size);
      worker.once('exit', () => running.delete(worker));
    };
    subscribe('worker_threads', watch);
    const runner = new ToolRunner([{ ...isolated, isolated: url }]);
    runner.startAhead(2);
    await until(() => running.size === 2);
    const calls = Array.from({ length: 40 }, () => call(runner, 'hello'));
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['ok']));
    expect(most).toBe(Math.max(4, availableParallelism()));
    runner.startAhead(1);
    await runner.close();
    await until(() => running.size === 0);
    unsubscribe('worker_threads', watch);
  });

  /** Calls a tool of one runner. */
  const answered = async (what: string, changes: Partial<ToolSpec> = {}, settings = {}) => {
    const tool = { ...isolated, isolated: url, ...changes };
    const runner = new ToolRunner([tool], [], new Map([[tool.name, settings]]));
    try {
      return (await call(runner, what, never, tool.name)).result.content;
    } finally {
      await runner.close();
    }
  };

  test('has its long answers truncated', async () => {
    // Time enough for a busy machine to copy it.
    const flood = await answered('flood', { deadlineS: 60 });
    expect(flood).toMatch(/^x{4000}\n\[cut: 4,000 of 104,857,600/);
  });

  test('receives its own settings, and fails if it uses more', async () => {
    const settings = { unit: { name: 'grams' } };
    expect(await answered('settings', {}, settings)).toBe('{"unit":{"name":"grams"}}');
    const greedy = answered('hello', { name: 'greedy' });
    await expect(greedy).rejects.toThrow('it uses task, but the thread of an isolated tool');
    const unknown = answered('x', { name: 'patience' });
    await expect(unknown).rejects.toThrow('exports no class marked @tool({ name: "patience" })');
  });

  test('may be TypeScript if the thread has the loader hooks', async () => {
    const typed = new URL('typed-tool.ts', fixtures).href;
    const dist = new URL('../../../../../dist/agent_rl/threads/', import.meta.url);
    const hooks = {
      url: new URL('plugin-loading-hooks.js', dist).href,
      data: { packageUrl: new URL('../../../package.json', dist).href },
    };
    const runner = new ToolRunner([{ ...isolated, isolated: typed }], [hooks]);
    expect((await call(runner, 'hello')).result.content).toBe('typed hello');
    await runner.close();
  });

  test('ends its thread if a call is cancelled while the thread starts', async () => {
    const cancelled = new AbortController();
    let ended: Promise<unknown> | undefined;
    const watch = (message: unknown): void => {
      ended = once((message as { worker: Worker }).worker, 'exit');
      cancelled.abort(new Error('Ctrl-C'));
    };
    subscribe('worker_threads', watch);
    const runner = new ToolRunner([{ ...isolated, isolated: url }]);
    await expect(call(runner, 'hello', cancelled.signal)).rejects.toThrow('Ctrl-C');
    unsubscribe('worker_threads', watch);
    expect(ended).toBeDefined();
    await ended;
  });
});
