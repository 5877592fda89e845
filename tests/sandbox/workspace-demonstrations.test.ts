import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { CodeExecTool } from '#agent_rl/tools/code-exec/code-exec-tool.ts';
import {
  rightDemonstrations,
  workspaceDemonstrations,
} from '#dataset/demonstrations/workspace-demonstrations.ts';
import { trainRow } from '#dataset/workspace_tasks/generator/rows.ts';
import { trainedSteps, unseenSteps } from '#dataset/workspace_tasks/generator/step.ts';
import type { StepForm } from '#dataset/workspace_tasks/generator/step.ts';
import { drawQuestion } from '#dataset/workspace_tasks/generator/task.ts';
import { demonstrate, type RunProgram } from '#dataset/workspace_tasks/teacher/demonstrate.ts';
import { startedSandbox } from '../support/started-sandbox.ts';

const sandbox = startedSandbox();

const run: RunProgram = async (code, setup) => {
  const tool = new CodeExecTool({ sandbox: sandbox(), settings: {} });
  const context = {
    signal: new AbortController().signal,
    idempotencyKey: 'call',
    random: new KeyedRng(1),
  };
  const call = tool.call({ code }, { ...context, inputs: { setup } });
  const { content, isError = false } = await call;
  return { content, isError };
};

const stepsOf = (kind: StepForm['kind']) => [...trainedSteps[kind], ...unseenSteps[kind]];

async function findsItsWay(forms: readonly StepForm[], seed: number): Promise<void> {
  const question = drawQuestion(forms, 'warmUp', new KeyedRng(seed));
  const work = await demonstrate(question, { run, rng: new KeyedRng(seed, 'teacher') });
  expect(work?.messages.at(-1)?.content).toBe(`It is ${question.answer}.`);
  expect(work?.correct).toBe(true);
}

describe('The teacher of workspace questions', () => {
  test.each(stepsOf('relation'))('finds its way through %j by what its programs print', (form) =>
    Promise.all([0, 1, 2].map((seed) => findsItsWay([form, form], seed))),
  );

  test('reads tables of every form', async () => {
    const totals = stepsOf('total');
    for (const [at, largest] of stepsOf('largest').entries())
      await findsItsWay([largest, trainedSteps.relation[0]!, totals[at]!], at);
  }, 60_000);

  test('answers wrongly after a slip, and shows only what its programs printed', async () => {
    for (const slip of ['stop', 'skip'] as const) {
      const forms = [0, 1, 2].map((at) => trainedSteps.relation[at]!);
      const question = drawQuestion(forms, 'warmUp', new KeyedRng(7));
      const work = await demonstrate(question, { run, rng: new KeyedRng(1), slip });
      expect(work?.correct).toBe(false);
      for (const [at, message] of (work?.messages ?? []).entries()) {
        if (message.role !== 'tool') continue;
        const asked = work?.messages[at - 1];
        const code = asked?.role === 'assistant' ? asked.toolCalls?.[0]?.arguments['code'] : '';
        expect(message.content).toBe((await run(String(code), question.setup)).content);
      }
    }
  });

  test('gives the same conversations for a seed', async () => {
    const collected = async (seed: number) => {
      const all = [];
      for await (const one of workspaceDemonstrations(seed, 6, run)) all.push(one);
      return all;
    };
    const first = await collected(1);
    expect(await collected(1)).toEqual(first);
    expect(first).toHaveLength(6);
    expect(await collected(2)).not.toEqual(first);
  });
});

describe('The maker of right demonstrations', () => {
  const taskAt = (index: number) => {
    const { task_id: taskId, question: prompt, answer, ...metadata } = trainRow(3, index);
    return { taskId, prompt, answer, metadata, aliases: [] };
  };

  test('answers the training tasks, and a repeated task in another way', async () => {
    const some = Array.from({ length: 12 }, (_, index) => taskAt(index));
    const tasks = [...some, ...some];
    const shown = [];
    for await (const one of rightDemonstrations(1, tasks, run)) shown.push(one);
    const said = shown.map(({ messages }) => [messages[0]?.content, messages.at(-1)?.content]);
    expect(said).toEqual(tasks.map(({ prompt, answer }) => [prompt, `It is ${answer}.`]));
    expect(shown.slice(some.length)).not.toEqual(shown.slice(0, some.length));
  });

  test.each([
    ['its id', { taskId: 'eval-unseen-pairs-1' }, 'expected workspace-SEED-INDEX'],
    ['its world', { metadata: { setup: 'x = 1' } }, 'make-workspace'],
  ])('refuses a task that the generator does not know by %s', async (_, changed, expected) => {
    const demonstrations = rightDemonstrations(1, [{ ...taskAt(0), ...changed }], run);
    await expect(demonstrations.next()).rejects.toThrow(expected);
  });
});
