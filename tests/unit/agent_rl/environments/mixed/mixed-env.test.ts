import { expect, test } from '@jest/globals';

import type { CodeTask } from '#agent_rl/core/tasks/code-task.ts';
import type { Turn } from '#agent_rl/core/plugins/environment.ts';
import type { SearchTask } from '#agent_rl/core/tasks/search-task.ts';
import type { CodeExecSettings } from '#agent_rl/environments/code-exec/settings.ts';
import { MixedEnv } from '#agent_rl/environments/mixed/mixed-env.ts';
import type { SearchSettings } from '#agent_rl/environments/search/settings.ts';
import { describeEnvironmentContract } from '#tests/contracts/environment-contract.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';

const question: SearchTask = {
  taskId: 'q',
  prompt: 'Who rules Velmora?',
  answer: 'Tamlina',
  aliases: [],
  documentIds: [],
  documents: [],
  metadata: {},
};

const program: CodeTask = {
  taskId: 'p',
  prompt: 'Print 2.',
  starterCode: '',
  compare: 'whitespace',
  metadata: {},
  tests: { kind: 'stdin', cases: [{ input: '', output: '2' }] },
};

const codeExec: CodeExecSettings = {
  judgedCall: 'last-call',
  showStarterCode: false,
  successReward: 1,
  partialCredit: 0,
  timeoutPenalty: 0,
  turnLimitPenalty: 0,
};

const search: SearchSettings = {
  match: 'contains',
  openings: ['it is'],
  maxAnswerWords: 40,
  successReward: 1,
  requireSearch: true,
  searchPenalty: 0,
  freeSearches: 2,
  repeatPenalty: 0,
  noAnswerPenalty: 0,
  timeoutPenalty: 0,
  turnLimitPenalty: 0,
};

const make = (task: CodeTask | SearchTask): MixedEnv =>
  new MixedEnv(
    task,
    scriptedSandbox(() => ({ stdout: '2' })),
    { codeExec, search },
  );

const { signal } = new AbortController();

const calls = (index: number, name: string, args: object, content: string): Turn => ({
  index,
  message: { role: 'assistant', content: '' },
  calls: [
    {
      call: { id: `call_${index}_0`, name, arguments: { ...args } },
      result: { content },
      status: 'ok',
      wallMs: 1,
    },
  ],
});

const says = (content: string): Turn => ({
  index: 9,
  message: { role: 'assistant', content },
  calls: [],
});

const searches = calls(0, 'search', { query: 'ruler of Velmora' }, 'It is Tamlina.');
const runs = calls(0, 'code_exec', { code: 'print(2)' }, '2');

describeEnvironmentContract('MixedEnv', {
  plugin: MixedEnv,
  create: () => make(question),
  winningTurns: [searches, says('It is Tamlina.')],
});

test.each([
  ['a question by search', [question, searches, 'Tamlina'], true],
  ['a program by code_exec', [program, runs, 'Done.'], true],
  ['a question by code_exec', [question, runs, 'Tamlina'], false],
  ['a program by search', [program, searches, 'Done.'], false],
] as const)('judges %s', async (_, [task, turn, answer], right) => {
  const environment = make(task);
  await environment.start();
  await environment.step(turn, signal);
  await environment.step(says(answer), signal);
  const verdict = await environment.finish('done', signal);
  expect(verdict.success).toBe(right);
  expect(verdict.metrics).toMatchObject({ toolChoiceRight: right ? 1 : 0, toolUsed: 1 });
});

test('the first call decides whether the choice was right', async () => {
  const environment = make(question);
  for (const turn of [runs, searches, says('Tamlina')]) await environment.step(turn, signal);
  const verdict = await environment.finish('done', signal);
  expect([verdict.success, verdict.metrics?.['toolChoiceRight']]).toEqual([true, 0]);
});

test('an episode without a call chose nothing', async () => {
  const environment = make(question);
  await environment.step(says('Tamlina'), signal);
  const { metrics } = await environment.finish('done', signal);
  expect(metrics).toMatchObject({ toolChoiceRight: 0, toolUsed: 0 });
});
