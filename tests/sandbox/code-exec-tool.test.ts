import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { CallsResult, JudgeResult, SessionRun } from '#agent_rl/core/services/sandbox.ts';
import { tools } from '#agent_rl/core/plugins/tool.ts';
import type { ToolResult, ToolSpec } from '#agent_rl/core/plugins/tool.ts';
import { CodeExecTool } from '#agent_rl/tools/code-exec/code-exec-tool.ts';
import type { CodeExecInputs } from '#agent_rl/tools/code-exec/code-exec-tool.ts';
import { describeToolContract } from '../contracts/tool-contract.ts';
import { scriptedSandbox } from '../support/scripted-sandbox.ts';
import { startedSandbox } from '../support/started-sandbox.ts';

const { signal } = new AbortController();
const contextOf = (inputs: CodeExecInputs = {}) =>
  ({ signal, inputs: { ...inputs }, idempotencyKey: 'call', random: new KeyedRng(1) }) as const;

/** What is shown of a result, and what the sandbox was asked. */
async function asked(
  inputs?: CodeExecInputs,
  result: Partial<CallsResult & JudgeResult> = {},
  settings = {},
): Promise<{ shown: ToolResult; requests: readonly unknown[] }> {
  const sandbox = scriptedSandbox(() => result);
  const tool = new CodeExecTool({ sandbox, settings });
  return { shown: await tool.call({ code: 'c' }, contextOf(inputs)), requests: sandbox.requests };
}

const answered = async (result: Partial<CallsResult & JudgeResult>, inputs?: CodeExecInputs) =>
  (await asked(inputs, result)).shown;

const call = { entry: 'f', args: [1] };

test.each<[string, Partial<CallsResult>, string, CodeExecInputs?]>([
  ['what a program printed', { stdout: 'a\nb\n' }, 'a\nb'],
  ['that a program printed nothing', {}, '[no output]'],
  ['a warning if there is nothing else', { stderr: 'Warning: x\n' }, 'Warning: x'],
  ['what a function returned', { results: [{ ok: true, value: [1, 'a'] }] }, "[1, 'a']", { call }],
  ['both', { stdout: 'x\n', results: [{ ok: true, value: null }] }, 'x\nNone', { call }],
])('code_exec shows %s', async (_name, result, content, ...[inputs]) => {
  expect(await answered(result, inputs)).toMatchObject({ content, isError: false });
});

test.each<[string, Partial<CallsResult>, string, CodeExecInputs?]>([
  [
    'the exception and its line',
    { status: 'error', stdout: 'x\n', stderr: 'File "main.py", line 3, in f\n    1/0\nOdd: no\n' },
    'x\nError on line 3: Odd: no',
  ],
  ['an exit code', { status: 'error', exitCode: 3 }, 'Error: the program ended with code 3.'],
  ['a timeout', { status: 'timeout', wallMs: 5010 }, 'Timed out after 5 s.'],
  ['lack of memory', { status: 'memory_limit' }, 'Error: the program used too much memory.'],
  ['a flood', { status: 'output_limit' }, 'Error: the program printed too much.'],
  [
    'why a call has no value',
    { results: [{ ok: false, problem: 'Odd: 1' }], stderr: 'File "main.py", line 2, in f\nOdd: 1' },
    'Error on line 2: Odd: 1',
    { call },
  ],
  ['a missing call', { status: 'timeout', wallMs: 1000 }, 'Timed out after 1 s.', { call }],
])('code_exec shows %s as an error', async (_name, result, content, ...[inputs]) => {
  expect(await answered(result, inputs)).toMatchObject({ content, isError: true });
});

describe('code_exec with public tests', () => {
  const tests = { statements: ['assert f(1) == 1', 'assert f(2) == 4'] };
  const pass = { passed: true };
  const why = 'AssertionError: got 3';
  const fail = { passed: false, problem: why };
  const [first, second] = ['passed: assert f(1) == 1\n', 'passed: assert f(2) == 4'];
  const unexplained = `failed: assert f(1) == 1\n${second}`;

  const raised = '  File "main.py", line 1\nZeroDivisionError: division by zero\n';

  test.each<[string, Partial<CallsResult & JudgeResult>, string | RegExp, object?]>([
    ['that all passed', { stdout: 'x\n', verdicts: [pass, pass] }, `x\n${first}${second}`],
    ['why one failed', { verdicts: [pass, fail] }, `${first}failed: assert f(2) == 4 (${why})`],
    ['not why, which could quote a setup', { verdicts: [fail, pass] }, unexplained, { setup: 'x' }],
    [
      'how a program ended that did not reach them',
      { status: 'error', stderr: raised, verdicts: [fail, fail] },
      'Error on line 1: ZeroDivisionError: division by zero',
    ],
    ['that time was up', { status: 'timeout', wallMs: 2000 }, 'Timed out after 2 s.'],
    ['an error without verdicts', { verdicts: [] }, /./],
  ])('shows %s', async (_name, result, content, more = {}) => {
    const shown = await answered(result, { tests: { ...tests, ...more } });
    expect(shown.content).toMatch(content);
    expect(shown.isError).toBe(result.verdicts?.[1] !== pass || result.verdicts[0] !== pass);
  });

  test('sends the sandbox only a judgement', async () => {
    const { requests } = await asked({ tests }, { verdicts: [pass, pass] });
    expect(requests).toEqual([{ kind: 'judge', code: 'c', tests, seed: expect.any(Number) }]);
  });
});

test('code_exec throws when the sandbox fails, so that the policy is not blamed', async () => {
  const failed = answered({ status: 'sandbox_error', message: 'child died' });
  await expect(failed).rejects.toThrow('child died');
});

test('code_exec sends the sandbox the input and its own seed', async () => {
  const { requests } = await asked({ stdin: 'in' });
  expect(requests).toEqual([{ kind: 'run', code: 'c', stdin: 'in', seed: expect.any(Number) }]);
});

describe('In a real sandbox', () => {
  const sandbox = startedSandbox();

  describeToolContract('code_exec', {
    plugin: CodeExecTool,
    create: () => new CodeExecTool({ sandbox: sandbox(), settings: {} }),
    goodArguments: { code: 'import random\nprint(input(), random.random())' },
    badArguments: { code: 'print(' },
    inputs: { stdin: 'hello\n' },
  });

  test('code_exec shows what f returned, and where it raised', async () => {
    const tool = new CodeExecTool({ sandbox: sandbox(), settings: {} });
    const f = (code: string) =>
      tool.call({ code }, contextOf({ call: { entry: 'f', args: ['ab'] } }));
    expect((await f('def f(a):\n    return a[::-1], 1.0')).content).toBe("('ba', 1.0)");
    expect((await f('def f(a):\n    return a.x')).content).toBe(
      "Error on line 2: AttributeError: 'str' object has no attribute 'x'",
    );
    expect((await f('x = 1')).content).toBe('NameError: the program defines no function named f');
    expect((await f('def f(a:\n  pass')).content).toMatch(/^Error on line 1: SyntaxError: /);
  });
});

describe('A setup of the environment', () => {
  const sandbox = startedSandbox();
  const setup = 'x = 3\ndef f(n):\n    return {1: x}[n]';
  const shownOf = async (tool: CodeExecTool, code: string): Promise<string> =>
    (await tool.call({ code }, contextOf({ setup }))).content;

  test.each([{}, { session: true }])('defines names for each program: %j', async (settings) => {
    const tool = new CodeExecTool({ sandbox: sandbox(), settings });
    expect(await shownOf(tool, 'print(f(1), x)')).toBe('3 3');
    await tool.close();
  });

  test('adds no line numbers, and its errors are shown at the line that called it', async () => {
    const tool = new CodeExecTool({ sandbox: sandbox(), settings: {} });
    expect(await shownOf(tool, 'y = 1\nprint(f(2))')).toBe('Error on line 2: KeyError: 2');
    expect(await shownOf(tool, 'y = 1\nprint(z)')).toMatch(/^Error on line 2: NameError/);
    expect(await shownOf(tool, 'print(')).toMatch(/^Error on line 1: SyntaxError/);
  });

  test('runs once in a session', async () => {
    const tool = new CodeExecTool({ sandbox: sandbox(), settings: { session: true } });
    expect(await shownOf(tool, 'x += 1\nprint(x)')).toBe('4');
    expect(await shownOf(tool, 'print(x)')).toBe('4');
    await tool.close();
  });

  test('is an error of the task when it fails, and leaves no session open', async () => {
    const broken = scriptedSandbox(() => ({ status: 'error', stderr: 'NameError: q' }));
    const tool = new CodeExecTool({ sandbox: broken, settings: { session: true } });
    await expect(shownOf(tool, 'print(1)')).rejects.toThrow(
      "The setup of a task failed before the agent's first program: NameError: q",
    );
    expect(broken.openSessions).toBe(0);
  });
});

describe('code_exec with output', () => {
  test('blank output hides what the program did, and the environment still sees it', async () => {
    const { shown } = await asked({}, { stdout: 'secret' }, { output: 'blank' });
    expect(shown).toMatchObject({ content: '', isError: false, data: { stdout: 'secret' } });
  });

  test('unavailable runs nothing and says so', async () => {
    const { shown, requests } = await asked({}, {}, { output: 'unavailable' });
    expect(shown).toEqual({ content: 'Error: code_exec is not available.', isError: true });
    expect(requests).toEqual([]);
  });
});

describe('A session of code_exec', () => {
  const inSession = (settings: object, results: readonly Partial<SessionRun>[]) => {
    const waiting = [...results];
    const sandbox = scriptedSandbox(() => waiting.shift() ?? {});
    const tool = new CodeExecTool({ sandbox, settings: { session: true, ...settings } });
    return { sandbox, tool };
  };

  test('runs one program after another in one interpreter, until the episode is closed', async () => {
    const { sandbox, tool } = inSession({}, [{ stdout: '' }, { stdout: '3\n' }]);
    await tool.call({ code: 'x = 3' }, contextOf());
    expect(await tool.call({ code: 'print(x)' }, contextOf())).toMatchObject({ content: '3' });
    expect(sandbox.requests.map((request) => request.code)).toEqual(['x = 3', 'print(x)']);
    expect(sandbox.sessions).toBe(1);
    await tool.close();
    expect(sandbox.openSessions).toBe(0);
  });

  test('prints what the public call returns at the end of the program', async () => {
    const { sandbox, tool } = inSession({}, [{ stdout: '2\n' }]);
    const dict = { $dict: [['a', { $float: 'inf' }]] } as const;
    const args = [1, { $float: 'nan' }, { $tuple: [{ $set: [] }] }, dict];
    await tool.call({ code: 'def f(*x): return 2' }, contextOf({ call: { entry: 'f', args } }));
    expect(sandbox.requests[0]?.code).toBe(
      "def f(*x): return 2\nprint(repr(f(1, float('NaN'), tuple([set([])]), {'a': float('Infinity')})))",
    );
  });

  test('says when the session ended, and why if its time is used up', async () => {
    const crash = { status: 'signaled', signal: 'SIGSEGV', alive: false } as const;
    const message = 'the programs of the session used up their 5 s together';
    const spent = { status: 'timeout', message, alive: false } as const;
    const { tool } = inSession({ sessionS: 5 }, [crash, spent]);
    for (const why of ['the program crashed Python', message]) {
      const { content } = await tool.call({ code: '1' }, contextOf());
      expect(content).toBe(`Error: ${why}.\nThe session ended: variables and files are gone.`);
    }
  });

  test('is described to the model', () => {
    const configure = tools.specOf(CodeExecTool)?.configure as NonNullable<ToolSpec['configure']>;
    expect(configure({})).toEqual({});
    expect(configure({ session: true }).description).toMatch(/stay for your next programs/);
    expect(() => configure({ sessionS: 5 })).toThrow('without session: true');
  });
});
