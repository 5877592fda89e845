import { describe, expect, test } from '@jest/globals';

import type { ExecutedCall } from '#agent_rl/core/plugins/environment.ts';
import type { Scorer } from '#agent_rl/core/services/scorer.ts';
import type { Task } from '#agent_rl/core/tasks/task.ts';
import { hintFor, hintText } from '#agent_rl/trainer/steps/hint.ts';
import {
  type Changes,
  failing,
  mixed,
  never,
  type Script,
  setUp,
  trained,
} from '#tests/support/grpo-trainer-setup.ts';
import { part, played } from '#tests/support/rollouts.ts';

/** A hint of two tokens, whatever it says. */
const encode = () => [90, 91];

const distill = (
  changes: Partial<NonNullable<Changes['algorithm']>['distill']> = {},
): NonNullable<Changes['algorithm']> => ({
  distill: {
    hint: ' It is {answer}.',
    leastHintGain: 0,
    weight: 2,
    advantageWeight: 0,
    topK: 0,
    ...changes,
  },
});

const call = (status: ExecutedCall['status'], content: string): ExecutedCall => ({
  call: { id: 'call_0_0', name: 'add', arguments: { a: 1 } },
  result: { content },
  status,
  wallMs: 0,
});

const task: Task = { taskId: 't', prompt: 'How much?', metadata: { answer: '12', unit: 3 } };

const solved = part({
  success: true,
  messages: [
    { role: 'user', content: 'How much?' },
    { role: 'assistant', content: '', toolCalls: [call('ok', '').call] },
    { role: 'tool', name: 'add', callId: 'call_0_0', content: '12' },
    { role: 'assistant', content: 'It is 12.' },
  ],
});

describe('A hint', () => {
  test.each([
    ['{answer}', '\n12'],
    [' {answer} and {answer}, {unit}', ' 12 and 12, 3'],
    ['{error}', '\nno such $& tool'],
    ['{solution}', '\n{"name":"add","arguments":{"a":1}}\n12\nIt is 12.'],
    ['{unknown} {answer}', undefined],
  ])('the hint of %j says %j', (template, text) => {
    const calls = [call('error', 'too early'), call('rejected', 'no such $& tool'), call('ok', '')];
    const own = part({ calls });
    expect(hintText(template, { task, part: own, group: [own, solved] })).toBe(text);
  });

  test('is absent where the episode has no error, and no other of its group is solved', () => {
    const from = { task, part: solved, group: [solved] };
    expect(hintText('{error}', from)).toBeUndefined();
    expect(hintText('{solution}', from)).toBeUndefined();
  });

  test('is absent where what it asks for is empty, as the turns of an agent that said nothing', () => {
    const silent = part({ success: true, messages: [{ role: 'user', content: 'How much?' }] });
    const own = part({ calls: [call('error', '')] });
    const from = { task, part: own, group: [own, silent] };
    expect(hintText('{error}', from)).toBeUndefined();
    expect(hintText('{solution}', from)).toBeUndefined();
  });

  test('is absent where a sequence has no question before its first sampled token', () => {
    const sequences = [{ tokens: [5], spans: [], logProbs: [-0.5] }];
    const own = part({ sequences });
    expect(hintFor('{answer}', encode, { task, part: own, group: [own] })).toBeUndefined();
  });
});

/** Finds a token as likely as e^(-token / 100), and remembers what it read. */
const teacher = () => {
  const read: number[][] = [];
  const scorer: Scorer = {
    score: async (tokens) => {
      read.push(...tokens.map((one) => [...one]));
      return tokens.map((own) => Float32Array.from(own, (token) => -token / 100));
    },
    scoreTop: async (tokens, { topK }) =>
      tokens.map((own) => ({
        logProbs: new Float32Array(own.length),
        top: {
          topK,
          ids: Int32Array.from({ length: own.length * topK }, (_, i) => i),
          logProbs: new Float32Array(own.length * topK),
        },
      })),
  };
  return { scorer, read };
};

const tasks = (metadata: Record<string, unknown>) => ({
  sizes: [1000],
  tasksAt: (first: number, count: number): Task[] =>
    Array.from({ length: count }, (_, i) => ({ taskId: `t${first + i}`, prompt: 'p', metadata })),
  tasksInstead: (): Task[] => [],
});

const one: Script = () => played({ reward: 1 });
const once = (algorithm: NonNullable<Changes['algorithm']>): Changes => ({
  train: { iterations: 1 },
  algorithm,
});

describe('A teacher with a hint', () => {
  test('reads the hint after the question, and judges the tokens that the policy sampled', async () => {
    const { scorer, read } = teacher();
    const parts = { teacher: scorer, encode, tasks: tasks({ answer: '12' }) };
    const { learner } = await trained(one, once(distill()), {}, parts);
    // Two tokens of the question, two of the hint, three sampled ones of log-probability -0.5.
    expect(read[0]).toEqual([1, 2, 90, 91, 10, 11, 12]);
    const [datum] = learner.batches.flat();
    expect([...datum!.tokens]).toEqual([1, 2, 10, 11, 12]);
    for (const [place, value] of [0, 0, 0.8, 0.78, 0.76].entries())
      expect(datum!.advantages[place]).toBeCloseTo(value, 6);
  });

  test('lists its likeliest tokens for the places that the policy has', async () => {
    const { scorer } = teacher();
    const parts = { teacher: scorer, encode, tasks: tasks({ answer: '12' }) };
    const { learner } = await trained(one, once(distill({ topK: 2 })), {}, parts);
    const [datum] = learner.batches.flat();
    // Without the entries 4 to 7, of the hint.
    expect([...datum!.teacherTop!.ids]).toEqual([0, 1, 2, 3, 8, 9, 10, 11, 12, 13]);
    expect(datum!.teacherTop!.logProbs.length).toBe(10);
  });

  test('does not teach an episode without one', async () => {
    const { scorer, read } = teacher();
    const parts = { teacher: scorer, encode, tasks: tasks({}) };
    const { learner, metrics } = await trained(one, once(distill()), {}, parts);
    expect(read).toEqual([]);
    expect(learner.batches).toEqual([]);
    const sampled = metrics[0]?.['rollout/sampledTokens'];
    expect(metrics[0]).toMatchObject({ 'ledger/distilled': 0, 'ledger/zero-advantage': sampled });
  });

  test('is the policy itself where no other is named', async () => {
    const parts = { encode, tasks: tasks({ answer: '12' }) };
    const { learner } = await trained(one, once(distill()), {}, parts);
    expect(learner.forwards.map(({ which }) => which)).toEqual(['policy']);
    const [datum] = learner.batches.flat();
    // 2 · (-0.25 - -0.5)
    expect(datum!.advantages[2]).toBeCloseTo(0.5, 6);
  });
});

describe('The gain of a hint', () => {
  const held = (metadata: Record<string, unknown>): Task[] =>
    ['a', 'b'].map((taskId) => ({ taskId, prompt: 'How much?', metadata }));
  const parts = { encode, evalTasks: held({ answer: '12' }), tasks: tasks({ answer: '12' }) };
  const settings = (leastHintGain: number): Changes => ({
    ...once(distill({ leastHintGain })),
    eval: { before: true },
  });
  /** With the hint, task a is solved too. */
  const helped: Script = (request) =>
    request.key.when === 'train'
      ? mixed(request)
      : played({
          reward:
            request.task.prompt === 'How much? It is 12.' && request.task.taskId === 'a' ? 1 : 0,
        });

  test('is measured before training, by held-out tasks with the hint in the question', async () => {
    const heard: string[] = [];
    const { rollouts, metrics } = await trained(
      helped,
      settings(0.5),
      {
        evaluation: ({ when, evaluation: { successRate } }) => heard.push(`${when} ${successRate}`),
      },
      parts,
    );
    expect(heard).toEqual(['before 0', 'hinted 0.5']);
    expect(metrics.length).toBe(1);
    const hinted = rollouts.requests.filter(({ key }) => key.when === 'hinted');
    expect(hinted.map(({ task: { prompt } }) => prompt)).toEqual([
      'How much? It is 12.',
      'How much? It is 12.',
    ]);
  });

  test('ends the run before training if it is too small', async () => {
    const { error, metrics } = await failing(helped, settings(0.6), {}, parts);
    expect(error).toMatchObject({
      code: 'HINT_WITHOUT_GAIN',
      message: expect.stringContaining('from 0.0 % to 50.0 % on 2 tasks (+50.0 points), less than'),
    });
    expect(metrics).toEqual([]);
  });

  test('is counted from the first attempts where others give the solution', async () => {
    const second: Script = ({ key }) =>
      played({ reward: key.sample, success: key.sample === 1, messages: said });
    const said = [{ role: 'assistant' as const, content: 'It is 12.' }];
    const hint = distill({ leastHintGain: 0.6, hint: '{solution}' });
    const given = { ...once(hint), eval: { before: true, samples: 2, temperature: 1 } };
    const { error } = await failing(second, given, {}, parts);
    // Half of all attempts are right, but none of the first ones.
    expect(error).toMatchObject({
      message: expect.stringContaining('from 0.0 % to 50.0 % on 2 tasks'),
    });
  });

  test('ends the run if no held-out task has a hint', async () => {
    const none = { ...parts, evalTasks: held({}) };
    const { error } = await failing(helped, settings(0.5), {}, none);
    expect(error).toMatchObject({
      code: 'HINT_WITHOUT_GAIN',
      message: expect.stringContaining('no held-out task has what " It is {answer}." asks for'),
    });
  });

  const hintedIn = ({ rollouts }: ReturnType<typeof setUp>) =>
    rollouts.requests.filter(({ key }) => key.when === 'hinted').length;

  test('is measured once: a run that goes on after it does not measure it again', async () => {
    const first = setUp(helped, settings(0.5), {}, parts);
    await first.trainer.train(never);
    expect(hintedIn(first)).toBe(2);
    const again = setUp(helped, settings(0.9), {}, parts);
    again.trainer.restore(first.trainer.state());
    await again.trainer.train(never);
    expect(hintedIn(again)).toBe(0);
  });

  test('is measured again by a run that it has ended', async () => {
    const first = await failing(helped, settings(0.9), {}, parts);
    const again = setUp(helped, settings(0.9), {}, parts);
    again.trainer.restore(first.trainer.state());
    await expect(again.trainer.train(never)).rejects.toThrow('less than');
    expect(hintedIn(again)).toBe(2);
  });
});
