import { expect, test } from '@jest/globals';

import { searchDemonstrations } from '../../../dataset/search-demonstrations.ts';
import { unseenKinds } from '../../../dataset/search_tasks/generator/kinds.ts';
import { namesOf } from '../../../dataset/search_tasks/generator/names.ts';

const options = {
  topK: 2,
  render: (documents: readonly { readonly title: string; readonly text: string }[]): string =>
    documents.map(({ title, text }) => `${title}\n${text}`).join('\n\n'),
};
const demonstrations = [...searchDemonstrations(1, 400, options)];
const text = JSON.stringify(demonstrations);

test('an item depends on the seed and its place alone', () => {
  expect([...searchDemonstrations(1, 3, options)]).toEqual(demonstrations.slice(0, 3));
});

test('the teacher is right about a third of the time', () => {
  const right = demonstrations.filter(({ correct }) => correct).length;
  expect(right / demonstrations.length).toBeGreaterThan(0.25);
  expect(right / demonstrations.length).toBeLessThan(0.42);
});

test('nothing of the tasks is shown: no name, no unseen pair, no unseen form', () => {
  const names = new Set(text.match(/\b[A-Z][aeio][lnr][a-z]{4}\b/gu));
  expect([...names].filter((name) => namesOf.train.includes(name))).toEqual([]);
  expect([...names].filter((name) => namesOf.eval.includes(name))).toEqual([]);
  const kinds = new Set(demonstrations.map(({ kind }) => kind));
  expect(unseenKinds.filter(({ name }) => kinds.has(name))).toEqual([]);
  expect(text).not.toMatch(/The \w+ of \w+ is/u);
});

test('names in queries were read before: in the question or in what was found', () => {
  for (const { messages } of demonstrations) {
    let seen = '';
    for (const message of messages) {
      const query = message.role === 'assistant' ? message.toolCalls?.[0]?.arguments['query'] : '';
      for (const name of String(query).match(/[A-Z]\w+/gu) ?? []) expect(seen).toContain(name);
      seen += message.content;
    }
  }
});

test('a conversation ends with an answer and every search has its result', () => {
  for (const { messages } of demonstrations) {
    expect(messages.at(-1)?.content).toMatch(/^It is \w+\.$/u);
    const roles = messages.map(({ role }) => role);
    expect(roles.filter((role) => role === 'tool').length * 2 + 2).toBe(roles.length);
  }
});
