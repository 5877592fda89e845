import { expect, test } from '@jest/globals';

import type { AssistantMessage } from '#agent_rl/core/message.ts';
import * as mixed from '#dataset/demonstrations/mixed-demonstrations.ts';

const { isMistaken, mixedDemonstrations } = mixed;
type MixedDemonstration = mixed.MixedDemonstration;

const options: mixed.MixedDemonstrationOptions = {
  topK: 1,
  render: (documents) =>
    documents.map(({ title, text }) => `${title}\n${text}`).join('\n\n') || 'No results.',
  run: async () => ({ content: 'Velmana', isError: false }),
};

async function demonstrate(count: number, more = {}): Promise<MixedDemonstration[]> {
  const all = [];
  for await (const one of mixedDemonstrations(1, count, { ...options, ...more })) all.push(one);
  return all;
}

const asked = ({ messages }: MixedDemonstration): string => messages[0]?.content ?? '';

/** Search questions end in a question mark right after a word, workspace questions have a space before it. */
const isOfWorkspace = (one: MixedDemonstration): boolean => asked(one).endsWith(' ?');

const demonstrations = await demonstrate(600);
const searching = demonstrations.filter((one) => !isOfWorkspace(one));
const working = demonstrations.filter(isOfWorkspace);

const firstTool = ({ messages }: MixedDemonstration): string | undefined =>
  (messages[1] as AssistantMessage).toolCalls?.[0]?.name;

test('an item depends on the seed and its place alone', async () => {
  expect(await demonstrate(7)).toEqual(demonstrations.slice(0, 7));
});

test('six in ten conversations search, evenly spread', () => {
  const sorts = demonstrations.map(isOfWorkspace);
  expect(sorts.slice(0, 5)).toEqual([false, true, false, true, false]);
  expect(sorts.slice(5)).toEqual(sorts.slice(0, -5));
  expect(searching).toHaveLength(0.6 * demonstrations.length);
});

test('the teacher takes the wrong tool with some kinds only, and there in nearly half of the tries', () => {
  for (const all of [searching, working]) {
    const mistaken = all.filter(({ kind }) => isMistaken(kind));
    const inAll = mistaken.length / all.length;
    const wrong = mistaken.filter(({ wrongTool }) => wrongTool).length / mistaken.length;
    expect([inAll > 0.15, inAll < 0.4, wrong > 0.3, wrong < 0.6]).toEqual(Array(4).fill(true));
    expect(all.filter(({ kind, wrongTool }) => wrongTool && !isMistaken(kind))).toEqual([]);
  }
});

test('the teacher mistakes workspace questions that ask for a largest and for no total', () => {
  const largestOnly = (one: MixedDemonstration) =>
    asked(one).includes('largest') && !asked(one).includes('total');
  const mistaken = working.filter(({ kind }) => isMistaken(kind));
  expect(mistaken).toEqual(working.filter(largestOnly));
  expect(new Set(working.map(({ kind }) => kind)).size).toBe(4);
});

const wrongOnes = (of: readonly MixedDemonstration[]) => {
  const wrong = of.filter(({ wrongTool }) => wrongTool);
  expect(wrong.length).toBeGreaterThan(20);
  return wrong.map(({ messages, correct }) => {
    const [task, first, seen, last, ...rest] = messages as AssistantMessage[];
    const call = first?.toolCalls?.[0];
    const plan = first?.reasoning;
    return { task: task?.content, plan, call, seen: seen?.content, last, rest, correct };
  });
};

test('the teacher prints the name of a mistaken search question, and takes it for the answer', () => {
  for (const { task, plan, call, seen = '-', last, rest, correct } of wrongOnes(searching)) {
    expect(task).toContain(seen);
    expect(call).toMatchObject({ name: 'code_exec', arguments: { code: `print('${seen}')` } });
    expect(last).toEqual({ role: 'assistant', content: `It is ${seen}.`, reasoning: plan });
    expect([rest, correct]).toEqual([[], false]);
  }
});

test('the teacher searches for the first name of a mistaken workspace question, and finds nothing', () => {
  for (const { task, plan, call, seen, last, rest, correct } of wrongOnes(working)) {
    const query = /^What is the (\w+)/.exec(task ?? '')?.[1];
    expect(call).toMatchObject({ name: 'search', arguments: { query } });
    expect(last).toMatchObject({ content: 'It is not stated.', reasoning: plan });
    expect([seen, rest, correct]).toEqual(['No results.', [], false]);
  }
});

test('the teacher otherwise calls the right tool, or no tool', () => {
  const right = (of: readonly MixedDemonstration[]) =>
    new Set(of.filter(({ wrongTool }) => !wrongTool).map(firstTool));
  expect(right(searching)).toEqual(new Set(['search', undefined]));
  expect(right(working)).toEqual(new Set(['code_exec']));
});

test('a reliable teacher never takes the wrong tool, and leaves no step out', async () => {
  const reliable = await demonstrate(100, { reliable: true });
  expect(reliable.filter(({ wrongTool }) => wrongTool)).toEqual([]);
  // Its last plan says what the question does, up to what was found.
  for (const { messages } of reliable.filter(isOfWorkspace)) {
    const plan = (messages.at(-1) as AssistantMessage).reasoning ?? '';
    expect(messages[0]?.content).toContain(`What is the ${plan.replace(/ = .*$/, '')} `);
  }
});
