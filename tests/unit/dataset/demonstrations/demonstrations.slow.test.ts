import path from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { CodeTaskDataset } from '#dataset/tasks/code-task-dataset.ts';
import { heldOutFamilies } from '#dataset/code_tasks/generator/families.ts';
import { normalisePrompt } from '#dataset/code_tasks/generator/prompt.ts';
import { codeDemonstrations } from '#dataset/demonstrations/demonstrations.ts';

const all = [...codeDemonstrations(7, 1500)];
const share = (flags: readonly boolean[]): number => flags.filter(Boolean).length / flags.length;
/** The share of right programs, which a faithful imitator starts with. */
const rightShare = share(all.flatMap((one) => one.programsRight));

test('the teacher writes about one program in four right', () => {
  expect(rightShare).toBeGreaterThan(0.22);
  expect(rightShare).toBeLessThan(0.29);
});

test('a conversation ends well more often, because the teacher may try again', () => {
  const correct = share(all.map((one) => one.correct));
  expect(correct).toBeGreaterThan(rightShare);
  // 29 to 34 % over seeds: an imitator that retries as the teacher does starts below 35 %.
  expect(correct).toBeLessThan(0.35);
});

test('an item depends on the seed and its index alone', () => {
  expect([...codeDemonstrations(7, 3)]).toEqual(all.slice(0, 3));
  expect([...codeDemonstrations(8, 1)]).not.toEqual(all.slice(0, 1));
});

test('no conversation shows a prompt or a family of the evaluation', async () => {
  const file = path.join(packageRoot(), 'dataset/code_tasks/eval.jsonl');
  const evaluation = await CodeTaskDataset.fromPath(file);
  const prompts = new Set(evaluation.tasks.map((task) => normalisePrompt(task.prompt)));
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

test('plans are at most eight words long', () => {
  const thoughts = all.flatMap(({ messages }) =>
    messages.flatMap((message) => (message.role === 'assistant' ? [message.reasoning ?? ''] : [])),
  );
  expect(Math.max(...thoughts.map((thought) => thought.split(' ').length))).toBeLessThanOrEqual(8);
});
