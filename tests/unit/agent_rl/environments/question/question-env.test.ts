import { describe, expect, test } from '@jest/globals';
import { Value } from 'typebox/value';

import type { Turn } from '#agent_rl/core/plugins/environment.ts';
import type { QuestionTask } from '#agent_rl/core/tasks/question-task.ts';
import { QuestionEnv } from '#agent_rl/environments/question/question-env.ts';
import { answerProblem } from '#agent_rl/environments/question/right-answer.ts';
import { QuestionSettings } from '#agent_rl/environments/question/settings.ts';
import { describeEnvironmentContract } from '#tests/contracts/environment-contract.ts';

const question = { taskId: 't', prompt: 'How many legs have three spiders?', metadata: {} };
const task: QuestionTask = { ...question, answer: '24', aliases: ['two dozen'] };

const defaults = Value.Default(QuestionSettings, { maxAnswerWords: 4 }) as QuestionSettings;

const make = (settings: Partial<QuestionSettings> = {}, of = task): QuestionEnv =>
  new QuestionEnv({ task: of, settings: { ...defaults, ...settings } });

const message = (content: string) => ({ role: 'assistant', content }) as const;
const saying = (content: string): Turn => ({ index: 0, message: message(content), calls: [] });

async function answered(content: string, settings: Partial<QuestionSettings> = {}, of = task) {
  const environment = make(settings, of);
  await environment.start();
  const { done } = await environment.step(saying(content));
  return environment.finish(done ? 'done' : 'turn-limit');
}

const winningTurns = [saying('24')];
describeEnvironmentContract('QuestionEnv', { plugin: QuestionEnv, create: make, winningTurns });

describe('The recorded answer', () => {
  test.each([
    ['number', 'So 6 / 8 of them', '3/4'],
    ['number', 'It is 0.75 litres', '3/4'],
    ['number', 'The answer is -1,200.00', '-1200'],
    ['number', 'I do not know', undefined],
    ['whole', 'The answer is **Two Dozen**.', 'two dozen'],
    ['whole', 'two dozen', 'two dozen'],
    ['whole', '!', undefined],
    ['whole', 'x - 1', 'x 1'],
    ['whole', 'x + 1', 'x 1 +'],
    ['contains', 'It may be 24.0!', 'it may be 24'],
    ['rewards', 'Hence $\\boxed{24}$', '24'],
    ['number', '\\boxed{\\frac{2}{\\sqrt 2}}', '1*2^1/2'],
    ['number', '\\boxed{x > 1}', undefined],
  ] as const)('with match %s, %j is the answer %j', async (match, said, answer) => {
    expect((await answered(said, { match })).answer).toBe(answer);
  });

  test('is absent if the episode ended before an answer', async () => {
    const environment = make();
    await environment.start();
    expect((await environment.finish('token-limit')).answer).toBeUndefined();
  });
});

describe('A final message', () => {
  test.each([
    ['whole', true, ['24.0', 'Two dozen.', 'Eight times three.\nThe answer is **24**.']],
    ['whole', true, ['So $\\boxed{24}$.', '#### 24']],
    ['whole', false, ['I think 24', 'The answer is 23. No, 24']],
    ['number', true, ['I think 24 legs', 'The answer is 24 legs, of 3 spiders']],
    ['number', false, ['From 24 to 25', 'two dozen']],
    ['contains', true, ['They have 24 legs']],
    ['contains', false, ['22, 23, 24, 25, 26', '240 legs']],
    ['rewards', false, ['24']],
  ] as const)('judged by %s is right (%j): %j', async (match, success, messages) => {
    const aliases = match === 'number' ? [] : task.aliases;
    const outcome = success ? 'completed' : 'wrong-answer';
    for (const said of messages) {
      const verdict = await answered(said, { match }, { ...task, aliases });
      expect([said, verdict]).toMatchObject([said, { success, outcome, reward: Number(success) }]);
    }
  });

  test.each([
    [true, 'x - 1 ~ x − 1', 'x+1 ~ The answer is **x + 1**.', 'x >= 3 ~ $x ≥ 3$', '10^3 ~ 10^{3}'],
    [true, '5*3 ~ 5 × 3', 'Yahoo! ~ yahoo', 'A+ ~ The answer is A+!', 'X-ray ~ X ray'],
    [true, '1990-1995 ~ 1990–1995', 'Paris ~ **Paris**!', 'AT&T ~ > AT&T', '-5 ~ −5', '+5 ~ 5'],
    [false, 'x + 1 ~ x - 1', 'x - 1 ~ x + 1', 'x > 3 ~ x < 3', 'x > 3 ~ x >= 3', '10^-3 ~ 10^3'],
    [false, '±3 ~ 3', '3 ~ ±3', '3 ~ 3!', '√2 ~ 2', '2 ~ √2', '5-3 ~ 5+3', '5*3 ~ 5-3'],
  ] as [boolean, ...string[]][])(
    'judged by whole is right (%j) for the answer in %j, …',
    async (right, ...pairs) => {
      for (const [answer = '', said = ''] of pairs.map((pair) => pair.split(' ~ '))) {
        const verdict = await answered(said, {}, { ...task, answer, aliases: [] });
        expect([said, verdict.success]).toEqual([said, right]);
      }
    },
  );

  test('leaves the success to the rewards, but is never a success when missing', async () => {
    expect((await answered('24', { match: 'rewards', solvedAt: 0.5 })).solvedAt).toBe(0.5);
    expect((await answered('  ', { match: 'rewards' })).solvedAt).toBeUndefined();
  });

  test.each([
    [1, ['\\boxed{x > 24}', '\\boxed{24', '\\boxed{2^{10^9}}']],
    [0, ['\\boxed{25}', '\\boxed{24}', 'I do not know']],
  ])('is undecided (%d): %j', async (undecided, messages) => {
    for (const said of messages) {
      const verdict = await answered(said, { match: 'number' }, { ...task, aliases: [] });
      const reward = Number(said === '\\boxed{24}');
      expect([said, verdict]).toMatchObject([said, { metrics: { undecided }, reward }]);
      expect(await answered(said)).not.toHaveProperty('metrics.undecided');
    }
  });

  test('counts as missing when empty, with a penalty', async () => {
    const verdict = await answered(' ', { noAnswerPenalty: 0.25 });
    expect(verdict).toMatchObject({ reward: -0.25, metrics: { noAnswer: 1 } });
    expect(verdict.components).toEqual({ noAnswer: -0.25 });
  });
});

test('an episode continues while the policy calls tools, also after a malformed call', async () => {
  const environment = make({ systemPrompt: 'Be brief.', turnLimitPenalty: 0.5 });
  const system = { role: 'system', content: 'Be brief.' };
  expect(await environment.start()).toEqual([system, { role: 'user', content: task.prompt }]);
  const call = { id: 'c', name: 'calculator', arguments: {} };
  const calls = [{ call, result: { content: '24' }, status: 'ok', wallMs: 1 }] as const;
  expect(await environment.step({ ...saying('24'), calls })).toEqual({ done: false });
  const malformedCalls = [{ id: 'c', text: '{', problem: 'cut' }];
  const unread = { ...saying('24'), message: { ...message('24'), malformedCalls } };
  expect(await environment.step(unread)).toEqual({ done: false });
  const cut = { outcome: 'truncated-turns', reward: -0.5, success: false };
  expect(await environment.finish('turn-limit')).toMatchObject(cut);
});

describe('A task with an incomparable answer', () => {
  test.each([
    ['whole', {}, 'it has no answer.'],
    ['number', { answer: 'two' }, 'its answer "two" is not a single number'],
    ['number', { answer: 'x > 3' }, 'is not a single number'],
    ['number', { answer: '5 feet 3 inches' }, 'is not a single number'],
    ['contains', { answer: '???' }, 'has no letter or digit'],
    ['whole', { answer: '3 * 8 = 24\n#### 24' }, 'is a worked solution'],
  ] as const)('is refused by %s: %j', (match, { answer }: { answer?: string }, told) => {
    const { answer: _own, ...others } = task;
    const wrong = { ...others, aliases: [], ...(answer !== undefined && { answer }) };
    expect(answerProblem(wrong, { match })).toContain(told);
  });

  test('is accepted if rewards judge, or if numbers are compared with a worked solution', () => {
    const { answer: _own, ...unanswered } = task;
    const open = { ...unanswered, aliases: [] } as QuestionTask;
    expect(answerProblem(open, { match: 'rewards' })).toBeUndefined();
    const worked = { ...task, aliases: [], answer: '3 * 8\n#### 24' };
    expect(answerProblem(worked, { match: 'number' })).toBeUndefined();
  });
});
