import { describe, expect, test } from '@jest/globals';

import type { CodeTask } from '#agent_rl/core/tasks/code-task.ts';
import type { EpisodeEnd, Turn } from '#agent_rl/core/plugins/environment.ts';
import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { CodeExecEnv } from '#agent_rl/environments/code-exec/code-exec-env.ts';
import type { CodeExecSettings } from '#agent_rl/environments/code-exec/settings.ts';
import { describeEnvironmentContract } from '../contracts/environment-contract.ts';
import { scriptedSandbox } from '../support/scripted-sandbox.ts';

const task: CodeTask = {
  taskId: 't1',
  prompt: 'Double the number.',
  starterCode: '# read, then print',
  compare: 'whitespace',
  metadata: {},
  tests: {
    kind: 'stdin',
    cases: [1, 2, 5].map((n) => ({ input: `${n}`, output: `${2 * n}`, public: n === 1 })),
  },
};

const defaults: CodeExecSettings = {
  judgedCall: 'last-call',
  showStarterCode: false,
  successReward: 1,
  partialCredit: 0,
  timeoutPenalty: 0,
  turnLimitPenalty: 0,
};

/** Programs are words: `right` doubles, `half` doubles even numbers only, anything else prints nothing. */
const words = (): ReturnType<typeof scriptedSandbox> =>
  scriptedSandbox((request) => {
    const number = Number('stdin' in request ? request.stdin : '0');
    const doubles = request.code === 'right' || (request.code === 'half' && number % 2 === 0);
    if (request.code === 'broken') return { status: 'sandbox_error', message: 'child died' };
    return { stdout: doubles ? String(number * 2) : '' };
  });

const made = (settings: Partial<CodeExecSettings> = {}, sandbox: Sandbox = words(), given = task) =>
  new CodeExecEnv({ task: given, sandbox, settings: { ...defaults, ...settings } });

interface Ran {
  stdout?: string;
  status?: 'ok' | 'error' | 'rejected' | 'timeout';
}

const ran = (index: number, code: string, { stdout = '2', status = 'ok' }: Ran = {}): Turn => {
  const call = { id: `call_${index}_0`, name: 'code_exec', arguments: { code } };
  const data = { status: 'ok', stdout, stderr: '' };
  const message = { role: 'assistant', content: '', toolCalls: [call] } as const;
  return { index, message, calls: [{ call, status, wallMs: 1, result: { content: '', data } }] };
};
const says: Turn = { index: 9, message: { role: 'assistant', content: 'Done.' }, calls: [] };
const { signal } = new AbortController();

async function verdict(env: CodeExecEnv, turns: readonly Turn[], end: EpisodeEnd = 'done') {
  await env.start();
  for (const turn of turns) if ((await env.step(turn, signal)).done) break;
  return env.finish(end, signal);
}

describeEnvironmentContract('code_exec', {
  plugin: CodeExecEnv,
  create: () => made(),
  winningTurns: [ran(0, 'right'), says],
});

test('The environment starts with the prompt, and a system prompt and the starter code when requested', async () => {
  expect(await made().start()).toEqual([{ role: 'user', content: 'Double the number.' }]);
  const messages = await made({ systemPrompt: 'Write Python.', showStarterCode: true }).start();
  const shown = ['Write Python.', 'Double the number.\n\n# read, then print'];
  expect(messages.map(({ content }) => content)).toEqual(shown);
});

test('The environment gives the tool the public case and never a hidden one', () => {
  const call = { id: 'c', name: 'code_exec', arguments: {} };
  expect(made().toolInputs(call)).toEqual({ stdin: '1' });
  expect(made().toolInputs({ ...call, name: 'calculator' })).toEqual({});
  const cases = [
    { args: [2], expected: 4 },
    { args: [1], expected: 2, public: true },
  ];
  const calls: CodeTask = { ...task, tests: { kind: 'calls', entry: 'f', cases } };
  expect(made({}, words(), calls).toolInputs(call)).toEqual({ call: { entry: 'f', args: [1] } });
});

describe('A task of assert statements', () => {
  const tests: CodeTask['tests'] = {
    kind: 'asserts',
    setup: 'secret = 7',
    code: ['assert f(2) == 4', 'assert f(secret) == 49'],
    public: ['assert f(1) == 1', 'assert f(3) == 9'],
    entry: 'f',
    names: ['f'],
  };
  const asserts: CodeTask = { ...task, tests };
  const call = { id: 'c', name: 'code_exec', arguments: { code: 'c' } };
  const verdicts = (...passed: boolean[]) => passed.map((one) => ({ passed: one }));

  test('hands the tool its public statements, and never a hidden one', () => {
    const statements = ['assert f(1) == 1', 'assert f(3) == 9'];
    const given = { tests: { setup: 'secret = 7', statements, entry: 'f', names: ['f'] } };
    expect(made({}, words(), asserts).toolInputs(call)).toEqual(given);
    const { public: _, ...hidden } = tests;
    expect(made({}, words(), { ...task, tests: hidden }).toolInputs(call)).toEqual({});
  });

  test.each([
    [[true, true], [true, true], { reward: 1, success: true, repairedAfterError: 0 }],
    [[true, false], [true, true], { reward: 1, success: true, repairedAfterError: 1 }],
    [[true, true], [true, false], { reward: 0.2, success: false, repairedAfterError: 0 }],
    [[true, true], [], { reward: 0, success: false, repairedAfterError: 0 }],
  ])(
    'is judged after %j of the public and %j of the hidden statements',
    async (shown, hidden, expected) => {
      const sandbox = scriptedSandbox(() => ({ verdicts: verdicts(...hidden) }));
      const turn = ran(0, 'c');
      const [executed] = turn.calls;
      const data = { ...(executed?.result.data as object), verdicts: verdicts(...shown) };
      const calls = turn.calls.map((one) => ({ ...one, result: { content: '', data } }));
      const env = made({ partialCredit: 0.4 }, sandbox, asserts);
      const { reward, success, metrics } = await verdict(env, [{ ...turn, calls }, says]);
      const repairedAfterError = metrics?.['repairedAfterError'];
      expect({ reward, success, repairedAfterError }).toEqual(expected);
      expect(sandbox.requests).toMatchObject([{ tests: { statements: tests.code } }]);
    },
  );

  test('is solved by the first call that passes the hidden ones too, if every call is judged', async () => {
    const waiting = [[true, false], [true, true], []];
    const sandbox = scriptedSandbox(() => ({ verdicts: verdicts(...(waiting.shift() ?? [])) }));
    const env = made({ judgedCall: 'every-call' }, sandbox, asserts);
    await env.start();
    expect(await env.step(ran(0, 'f'), signal)).toEqual({ done: false });
    expect(await env.step(ran(1, 'g'), signal)).toEqual({ done: true });
    expect(await env.finish('done', signal)).toMatchObject({ reward: 1, success: true });
    expect(sandbox.requests.map(({ code }) => code)).toEqual(['f', 'g']);
  });
});

describe('An environment that judges the last call', () => {
  test('waits until the policy replies without a call', async () => {
    const sandbox = words();
    const env = made({}, sandbox);
    expect(await env.step(ran(0, 'right'), signal)).toEqual({ done: false });
    expect(sandbox.requests).toEqual([]);
    expect(await env.step(says, signal)).toEqual({ done: true });
    const won = { outcome: 'completed', reward: 1, success: true, components: { success: 1 } };
    expect(await env.finish('done', signal)).toMatchObject(won);
    // Hidden inputs alone.
    expect(sandbox.requests).toMatchObject([{ stdin: '2' }, { stdin: '5' }]);
  });

  test('takes the last program, right or wrong', async () => {
    const lost = { outcome: 'wrong-answer', reward: 0, success: false };
    expect(await verdict(made(), [ran(0, 'right'), ran(1, 'wrong'), says])).toMatchObject(lost);
  });

  test('counts a repair after a run that printed something else than the public case', async () => {
    const repaired = await verdict(made(), [ran(0, 'x', { stdout: '7' }), ran(1, 'right'), says]);
    expect(repaired.success).toBe(true);
    expect(repaired.metrics).toMatchObject({ repairedAfterError: 1, codeExecCalls: 2 });
    const atOnce = await verdict(made(), [ran(0, 'right'), says]);
    expect(atOnce.metrics).toMatchObject({ repairedAfterError: 0, noCall: 0 });
  });

  test('gives no reward without a call, or for one that never ran', async () => {
    const none = { outcome: 'wrong-answer', reward: 0, metrics: { noCall: 1 } };
    expect(await verdict(made(), [says])).toMatchObject(none);
    const rejected = ran(0, 'right', { status: 'rejected' });
    expect(await verdict(made(), [rejected, says])).toMatchObject(none);
  });

  test('continues after a malformed call', async () => {
    const malformedCalls = [{ id: 'c', text: '', problem: '' }];
    const message = { role: 'assistant', content: '', malformedCalls } as const;
    expect(await made().step({ index: 0, message, calls: [] }, signal)).toEqual({ done: false });
  });
});

describe('The reward', () => {
  test('includes partial credit for the share of hidden cases, when requested', async () => {
    // `half` prints 4 for 2 and nothing for 5: one of two hidden cases.
    const half = await verdict(made({ partialCredit: 0.4 }), [ran(0, 'half'), says]);
    expect(half).toMatchObject({ reward: 0.2, components: { partialCredit: 0.2 }, success: false });
  });

  test('is reduced by penalties, even after a success', async () => {
    const settings = { timeoutPenalty: 0.1, turnLimitPenalty: 0.25 };
    const late = await verdict(made(settings), [ran(0, 'right')], 'turn-limit');
    expect(late).toMatchObject({ reward: 0.75, success: true, outcome: 'completed' });
    expect(late.components).toEqual({ success: 1, turnLimit: -0.25 });
    const slow = [ran(0, 'x', { status: 'timeout' }), ran(1, 'wrong')];
    const failed = await verdict(made(settings), slow, 'turn-limit');
    expect(failed.reward).toBeCloseTo(-0.35, 12);
    expect(failed).toMatchObject({ outcome: 'truncated-turns', components: { timeout: -0.1 } });
  });

  test('is absent when the sandbox failed, whatever was run before', async () => {
    expect(await verdict(made(), [ran(0, 'broken'), says])).toMatchObject({
      outcome: 'infrastructure-error',
      problem: 'The sandbox failed: child died',
      reward: undefined,
      success: false,
    });
  });
});
