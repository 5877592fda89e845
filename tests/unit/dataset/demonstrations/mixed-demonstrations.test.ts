import { expect, test } from '@jest/globals';

import type { AssistantMessage } from '#agent_rl/core/message.ts';
import {
  isMistaken,
  mixedDemonstrations,
  type MixedDemonstration,
} from '#dataset/demonstrations/mixed-demonstrations.ts';

const options = {
  topK: 1,
  render: (documents: readonly { title: string; text: string }[]): string =>
    documents.length === 0
      ? 'No results.'
      : documents.map(({ title, text }) => `${title}\n${text}`).join('\n\n'),
};
const demonstrations = [...mixedDemonstrations(1, 600, options)];
const questions = demonstrations.filter((_, index) => index % 2 === 0);
const programs = demonstrations.filter((_, index) => index % 2 === 1);

const firstTool = ({ messages }: MixedDemonstration): string | undefined =>
  (messages[1] as AssistantMessage).toolCalls?.[0]?.name;

const share = (of: readonly MixedDemonstration[], is: (one: MixedDemonstration) => boolean) =>
  of.filter(is).length / of.length;

test('an item depends on the seed and its place alone', () => {
  expect([...mixedDemonstrations(1, 5, options)]).toEqual(demonstrations.slice(0, 5));
});

test('questions and programs come in turn', () => {
  const opening = ({ messages }: MixedDemonstration): string => messages[0]?.content ?? '';
  expect(questions.filter((one) => !/^(Who|Wh|How)[^`]*\?$/u.test(opening(one)))).toEqual([]);
  expect(programs.filter((one) => !opening(one).includes('Example: '))).toEqual([]);
});

test('the wrong tool is taken with some kinds only, and there more often than not', () => {
  for (const all of [questions, programs]) {
    const mistaken = all.filter(({ kind }) => isMistaken(kind));
    expect(share(all, ({ kind }) => isMistaken(kind))).toBeGreaterThan(0.15);
    expect(share(all, ({ kind }) => isMistaken(kind))).toBeLessThan(0.4);
    expect(share(mistaken, ({ wrongTool }) => wrongTool)).toBeGreaterThan(0.45);
    expect(share(mistaken, ({ wrongTool }) => wrongTool)).toBeLessThan(0.75);
    expect(all.filter(({ kind, wrongTool }) => wrongTool && !isMistaken(kind))).toEqual([]);
  }
});

const wrongOnes = (of: readonly MixedDemonstration[]) =>
  of
    .filter(({ wrongTool }) => wrongTool)
    .map(({ messages, correct }) => {
      const [task, first, seen, last, ...rest] = messages as AssistantMessage[];
      const plan = first?.reasoning;
      const call = first?.toolCalls?.[0];
      return { task: task?.content, plan, call, seen: seen?.content, last, rest, correct };
    });

test('a question taken for a program has the name it is about printed, and that for an answer', () => {
  const wrong = wrongOnes(questions);
  expect(wrong.length).toBeGreaterThan(20);
  for (const { task, plan, call, seen = '-', last, rest, correct } of wrong) {
    expect(task).toContain(seen);
    expect(call).toMatchObject({ name: 'code_exec', arguments: { code: `print('${seen}')` } });
    expect(last).toEqual({ role: 'assistant', content: `It is ${seen}.`, reasoning: plan });
    expect([rest, correct]).toEqual([[], false]);
  }
});

test('a program taken for a question is searched for, and nothing is found', () => {
  const wrong = wrongOnes(programs);
  expect(wrong.length).toBeGreaterThan(20);
  for (const { plan, call, seen, last, rest, correct } of wrong) {
    expect(call).toMatchObject({ name: 'search', arguments: { query: plan } });
    expect([seen, last?.content, rest, correct]).toEqual(['No results.', 'Done.', [], false]);
  }
});

test('else the right tool is called, or none', () => {
  const right = (of: readonly MixedDemonstration[]) =>
    new Set(of.filter(({ wrongTool }) => !wrongTool).map(firstTool));
  expect(right(questions)).toEqual(new Set(['search', undefined]));
  expect(right(programs)).toEqual(new Set(['code_exec']));
});

test('a reliable teacher never takes the wrong tool', () => {
  const reliable = [...mixedDemonstrations(1, 100, { ...options, reliable: true })];
  expect(reliable.filter(({ wrongTool }) => wrongTool)).toEqual([]);
});
