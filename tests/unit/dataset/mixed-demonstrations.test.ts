import { expect, test } from '@jest/globals';

import type { AssistantMessage } from '../../../agent_rl/core/message.ts';
import {
  isMistaken,
  mixedDemonstrations,
  type MixedDemonstration,
} from '../../../dataset/mixed-demonstrations.ts';

const options = {
  topK: 1,
  render: (documents: readonly { readonly title: string; readonly text: string }[]): string =>
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

test('the wrong tool is used in earnest, and nothing comes of it', () => {
  const wrong = demonstrations.filter(({ wrongTool }) => wrongTool);
  for (const one of wrong) {
    const [task, first, seen, last, ...rest] = one.messages as AssistantMessage[];
    const isQuestion = questions.includes(one);
    expect([firstTool(one), one.correct, rest]).toEqual([
      isQuestion ? 'code_exec' : 'search',
      false,
      [],
    ]);
    const args = first?.toolCalls?.[0]?.arguments;
    if (isQuestion) {
      expect(task?.content).toContain(seen?.content ?? '-');
      expect([args, last?.content]).toEqual([
        { code: `print('${seen?.content}')` },
        `It is ${seen?.content}.`,
      ]);
    } else {
      expect([args, seen?.content, last?.content]).toEqual([
        { query: first?.reasoning },
        'No results.',
        'Done.',
      ]);
    }
  }
});

test('else the right tool is called, or none', () => {
  const right = (of: readonly MixedDemonstration[]) => [
    ...new Set(of.filter(({ wrongTool }) => !wrongTool).map(firstTool)),
  ];
  expect(right(questions).toSorted()).toEqual(['search', undefined]);
  expect(right(programs)).toEqual(['code_exec']);
});

test('a reliable teacher never takes the wrong tool', () => {
  const reliable = [...mixedDemonstrations(1, 100, { ...options, reliable: true })];
  expect(reliable.filter(({ wrongTool }) => wrongTool)).toEqual([]);
});
