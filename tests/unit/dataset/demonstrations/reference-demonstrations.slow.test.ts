import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { CodeTask } from '#agent_rl/core/tasks/code-task.ts';
import { codeDemonstrations } from '#dataset/demonstrations/demonstrations.ts';
import { referenceDemonstration } from '#dataset/demonstrations/reference-demonstrations.ts';
import { loadCodeTaskSplits } from '#dataset/tasks/code-task-dataset.ts';

let tasks: CodeTask[];
beforeAll(async () => {
  const dir = path.join(packageRoot(), 'dataset/code_tasks');
  tasks = [...(await loadCodeTaskSplits(dir)).train];
});

describe('referenceDemonstration', () => {
  test('shows the plan, the program and the output of its example', () => {
    const [first] = tasks;
    expect(referenceDemonstration(first!).slice(1)).toEqual([
      {
        role: 'assistant',
        content: '',
        reasoning: expect.stringContaining('difference'),
        toolCalls: [
          {
            id: 'call_0_0',
            name: 'code_exec',
            arguments: {
              code: 'a, b = [int(x) for x in input().split()]\nx = abs(a - b)\nprint(x * 7)',
            },
          },
        ],
      },
      { role: 'tool', name: 'code_exec', callId: 'call_0_0', content: '161' },
      { role: 'assistant', content: 'Done.' },
    ]);
  });

  test('takes the teacher’s plan for every training task', () => {
    const plans = new Map<string, string>();
    for (const { kind, messages } of codeDemonstrations(1, 3000)) {
      const [, first] = messages;
      if (first?.role === 'assistant' && first.reasoning !== undefined)
        plans.set(kind, first.reasoning.replaceAll(/\d+|'\w'/g, 'N'));
    }
    for (const task of tasks) {
      const [, first] = referenceDemonstration(task);
      const plan = first?.role === 'assistant' ? first.reasoning : undefined;
      expect(plan?.replaceAll(/\d+|'\w'/g, 'N')).toBe(plans.get(String(task.metadata['family'])));
    }
  });

  test.each([
    ['no reference', { referenceSolution: undefined }],
    ['no family', { metadata: { family: 'unknown' } }],
  ])('refuses a task with %s by its id', (what, changed) => {
    const task = { ...tasks[0]!, ...changed } as CodeTask;
    expect(() => referenceDemonstration(task)).toThrow(`Task "train-0001" has ${what}`);
  });
});
