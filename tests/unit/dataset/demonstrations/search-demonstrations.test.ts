import { expect, test } from '@jest/globals';

import { searchDemonstrations } from '#dataset/demonstrations/search-demonstrations.ts';
import { unseenKinds } from '#dataset/search_tasks/generator/kinds.ts';
import { namesOf } from '#dataset/search_tasks/generator/names.ts';

const options = {
  topK: 1,
  render: (documents: readonly { title: string; text: string }[]): string =>
    documents.map(({ title, text }) => `${title}\n${text}`).join('\n\n'),
};
const demonstrations = [...searchDemonstrations(1, 400, options)];
const text = JSON.stringify(demonstrations);

test('an item depends on the seed and its place alone', () => {
  expect([...searchDemonstrations(1, 3, options)]).toEqual(demonstrations.slice(0, 3));
});

const rightShare = (of: readonly { correct: boolean }[]): number =>
  of.filter(({ correct }) => correct).length / of.length;

test('the teacher is right about a third of the time', () => {
  expect(rightShare(demonstrations)).toBeGreaterThan(0.22);
  expect(rightShare(demonstrations)).toBeLessThan(0.42);
});

test('the teacher is mostly right with the kinds it knows, and mostly wrong with the others', () => {
  const known = new Set(['founder', 'spouse', 'haven']);
  const ofOneStep = demonstrations.filter(({ kind }) => !kind.includes('-'));
  expect(rightShare(ofOneStep.filter(({ kind }) => known.has(kind)))).toBeGreaterThan(0.5);
  expect(rightShare(ofOneStep.filter(({ kind }) => !known.has(kind)))).toBeLessThan(0.35);
});

test('a reliable teacher is always right', () => {
  const reliable = [...searchDemonstrations(1, 60, { ...options, reliable: true })];
  expect(reliable.filter(({ correct }) => !correct)).toEqual([]);
});

test('what was noted stands in what was found, word for word', () => {
  const notes = demonstrations.flatMap(({ messages }) =>
    messages.map((message, index) => ({
      noted: message.role === 'assistant' ? (message.reasoning ?? '') : '',
      found: messages[index - 1]?.content ?? '',
    })),
  );
  const facts = notes.filter(({ noted }) => /^the [A-Z]/u.test(noted));
  expect(facts.length).toBeGreaterThan(demonstrations.length / 2);
  expect(facts.filter(({ noted, found }) => !found.includes(noted))).toEqual([]);
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
