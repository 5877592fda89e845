import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { AssistantMessage, Message } from '#agent_rl/core/message.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { CodeTask } from '#agent_rl/core/tasks/code-task.ts';
import { heldOutFamilies } from '#dataset/code_tasks/generator/families.ts';
import { normalisePrompt } from '#dataset/code_tasks/generator/prompt.ts';
import { codeDemonstrations } from '#dataset/demonstrations/demonstrations.ts';
import { referenceDemonstration } from '#dataset/demonstrations/reference-demonstrations.ts';
import { loadCodeTaskSplits } from '#dataset/tasks/code-task-dataset.ts';

const dir = path.join(packageRoot(), 'dataset/code_tasks');
let train: readonly CodeTask[];
let held: readonly CodeTask[];
beforeAll(async () => {
  const splits = await loadCodeTaskSplits(dir);
  [train, held] = [splits.train.tasks, splits.eval.tasks];
});

const all = [...codeDemonstrations(7, 1500)];
const share = (flags: readonly boolean[]): number => flags.filter(Boolean).length / flags.length;

test('the teacher writes about one program in four right, and tries again', () => {
  // What a faithful imitator starts with.
  const right = share(all.flatMap((one) => one.programsRight));
  expect(right).toBeGreaterThan(0.22);
  expect(right).toBeLessThan(0.29);
  const correct = share(all.map((one) => one.correct));
  expect(correct).toBeGreaterThan(right);
  // 29 to 34 % over seeds: an imitator that retries as the teacher does starts below 35 %.
  expect(correct).toBeLessThan(0.35);
});

test('an item depends on the seed and its index alone', () => {
  expect([...codeDemonstrations(7, 3)]).toEqual(all.slice(0, 3));
  expect([...codeDemonstrations(8, 1)]).not.toEqual(all.slice(0, 1));
});

test('no conversation shows a prompt or a family of the evaluation', () => {
  const prompts = new Set(held.map((task) => normalisePrompt(task.prompt)));
  const heldOut = new Set(heldOutFamilies.map((family) => family.name));
  for (const { messages, kind } of all) {
    const prompt = messages.find((message) => message.role === 'user')?.content ?? '';
    expect(prompts.has(normalisePrompt(prompt))).toBe(false);
    expect(heldOut.has(kind)).toBe(false);
  }
});

test('a conversation is prompt, calls with their results, and "Done."', () => {
  for (const { messages, programsRight } of all) {
    const calls = programsRight.flatMap(() => ['assistant', 'tool']);
    expect(messages.map((message) => message.role)).toEqual(['user', ...calls, 'assistant']);
    expect(messages.at(-1)).toEqual({ role: 'assistant', content: 'Done.' });
    expect(programsRight.length).toBeLessThanOrEqual(3);
  }
});

describe('referenceDemonstration', () => {
  test('shows the plan, the program and the output of its example', () => {
    const code = 'a, b = [int(x) for x in input().split()]\nx = abs(a - b)\nprint(x * 7)';
    const toolCalls = [{ id: 'call_0_0', name: 'code_exec', arguments: { code } }];
    const reasoning = expect.stringContaining('difference');
    expect(referenceDemonstration(train[0]!).slice(1)).toEqual([
      { role: 'assistant', content: '', reasoning, toolCalls },
      { role: 'tool', name: 'code_exec', callId: 'call_0_0', content: '161' },
      { role: 'assistant', content: 'Done.' },
    ]);
  });

  test('takes the teacher’s plan for every training task', () => {
    const planOf = (messages: readonly Message[]) =>
      (messages[1] as AssistantMessage).reasoning?.replaceAll(/\d+|'\w'/g, 'N');
    const shown = [...codeDemonstrations(1, 3000)];
    const plans = new Map(
      shown.flatMap(({ kind, messages }) => {
        const plan = planOf(messages);
        return plan === undefined ? [] : [[kind, plan] as const];
      }),
    );
    for (const task of train)
      expect(planOf(referenceDemonstration(task))).toBe(plans.get(String(task.metadata['family'])));
  });

  test.each([
    ['no reference', { referenceSolution: undefined }],
    ['no family', { metadata: { family: 'unknown' } }],
  ])('refuses a task with %s by its id', (what, changed) => {
    const task = { ...train[0]!, ...changed } as CodeTask;
    expect(() => referenceDemonstration(task)).toThrow(`Task "train-0001" has ${what}`);
  });
});
