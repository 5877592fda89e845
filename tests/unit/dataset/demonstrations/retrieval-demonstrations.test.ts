import { describe, expect, test } from '@jest/globals';

import type { Message } from '#agent_rl/core/message.ts';
import type { SearchHit } from '#agent_rl/core/services/search.ts';
import type { SearchTask } from '#agent_rl/core/tasks/search-task.ts';
import { retrievalDemonstrations } from '#dataset/demonstrations/retrieval-demonstrations.ts';
import type { RetrievalTeacher } from '#dataset/demonstrations/retrieval-demonstrations.ts';

const task = (taskId: string, prompt: string, answer: string): SearchTask => ({
  taskId,
  prompt,
  answer,
  aliases: [],
  documentIds: [taskId],
  documents: [],
  metadata: {},
});

const hit = (text: string): SearchHit => ({ documentId: 'd', title: 'T', text, score: 1 });

const finding = (...texts: string[]): RetrievalTeacher => ({
  search: async () => ({ content: texts.join('\n'), hits: texts.map(hit) }),
});

async function shown(tasks: readonly SearchTask[], teacher: RetrievalTeacher, seed = 1) {
  const found: (readonly Message[])[] = [];
  for await (const { messages } of retrievalDemonstrations(seed, tasks, teacher))
    found.push(messages);
  return found;
}

const rabies = task(
  'a',
  'What causes rabies ?',
  'Rabies is caused by\n   a virus of animals. It is spread by infected saliva. Bats carry it in many places. Few people survive it.',
);
const spread = 'It is spread by infected saliva.';
const answerOf = (conversations: readonly (readonly Message[])[]) =>
  conversations[0]?.at(-1)?.content;

describe('retrievalDemonstrations', () => {
  test('searches for the question, shows what was found, and answers in its words', async () => {
    const text = 'Dogs may bite people. It is spread by infected saliva.';
    const [messages] = await shown([rabies], { ...finding(text), systemPrompt: 'Search once.' });
    const call = { id: 'call_0_0', name: 'search', arguments: { query: rabies.prompt } };
    expect(messages).toEqual([
      { role: 'system', content: 'Search once.' },
      { role: 'user', content: rabies.prompt },
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', name: 'search', callId: 'call_0_0', content: text },
      { role: 'assistant', content: 'It is spread by infected saliva.' },
    ]);
  });

  test('takes a sentence of several passages once, whatever the spaces between words', async () => {
    const first = 'Rabies is caused by a virus\nof animals.';
    const both = 'Rabies is caused by a virus of animals. Bats carry it in many places.';
    expect(answerOf(await shown([rabies], finding(first, both)))).toBe(both);
  });

  test.each([
    ['a sentence that the reference lacks', 'Rabies is a disease of the brain.'],
    ['a sentence that was cut off', 'Bats carry it in many…'],
    ['a sentence that its passage ends within', 'Bats carry it in many'],
    ['the end of a sentence', 'is caused by a virus of animals.'],
    ['a sentence of four words', 'Few people survive it.'],
    ['nothing', ''],
  ])('leaves out a question whose search showed only %s', async (_, text) => {
    expect(await shown([rabies], finding(text))).toEqual([]);
  });

  test('ends an answer before its fifty-first word', async () => {
    const sentence = (start: string, words: number) =>
      `${[start, ...Array.from({ length: words - 1 }, () => 'word')].join(' ')}.`;
    const [thirty, twenty, five] = [sentence('A', 30), sentence('B', 20), sentence('C', 5)];
    const asked = task('a', 'What?', [thirty, twenty, five].join(' '));
    const answer = answerOf(await shown([asked], finding(thirty, twenty, five)));
    expect(answer).toBe(`${thirty} ${twenty}`);
  });

  test('leaves out a question whose first sentence alone is too long', async () => {
    const long = `A${' word'.repeat(50)}.`;
    const asked = task('a', 'What?', `${long} ${rabies.answer}`);
    expect(await shown([asked], finding(long, spread))).toEqual([]);
  });

  test('orders the conversations by the seed', async () => {
    const asked = Array.from({ length: 30 }, (_, i) =>
      task(`${i}`, `What is ${i} ?`, rabies.answer),
    );
    const order = async (seed: number) =>
      (await shown(asked, finding(spread), seed)).map(([question]) => question?.content);
    expect(await order(1)).toEqual(await order(1));
    expect(await order(2)).not.toEqual(await order(1));
    expect(new Set(await order(1))).toEqual(new Set(asked.map(({ prompt }) => prompt)));
  });
});
