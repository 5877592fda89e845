import { expect, test } from '@jest/globals';

import { searchDemonstrations } from '#dataset/demonstrations/search-demonstrations.ts';
import { unseenWordings, wordingName } from '#dataset/search_tasks/generator/form.ts';
import { unseenKinds } from '#dataset/search_tasks/generator/kinds.ts';
import { namesOf } from '#dataset/search_tasks/generator/names.ts';

const options = {
  topK: 2,
  render: (documents: readonly { title: string; text: string }[]): string =>
    documents.map(({ title, text }, i) => `[${i + 1}] ${title}\n${text}`).join('\n\n'),
};
const demonstrations = [...searchDemonstrations(1, 400, options)];
const text = JSON.stringify(demonstrations);

test('an item depends on the seed and its place alone', () => {
  expect([...searchDemonstrations(1, 3, options)]).toEqual(demonstrations.slice(0, 3));
});

const rightShare = (of: readonly { correct: boolean }[]): number =>
  of.filter(({ correct }) => correct).length / of.length;

test('the teacher is right with most kinds that it knows and few others, and always if reliable', () => {
  expect(rightShare(demonstrations)).toBeGreaterThan(0.3);
  expect(rightShare(demonstrations)).toBeLessThan(0.5);
  const known = new Set(['founder', 'spouse', 'haven']);
  const ofOneStep = demonstrations.filter(({ kind }) => !kind.includes('-'));
  expect(rightShare(ofOneStep.filter(({ kind }) => known.has(kind)))).toBeGreaterThan(0.5);
  expect(rightShare(ofOneStep.filter(({ kind }) => !known.has(kind)))).toBeLessThan(0.5);
  expect(rightShare([...searchDemonstrations(1, 60, { ...options, reliable: true })])).toBe(1);
});

interface Reading {
  found: string;
  notes: string;
  /** What was looked for, what that led to, and what is left. */
  so: readonly string[];
  content: string;
}

/** Each thought about something found. */
const readings = demonstrations.flatMap(({ messages }) =>
  messages.flatMap((message, index): Reading[] => {
    if (message.role !== 'assistant') return [];
    const [notes = '', so] = (message.reasoning ?? '').split(/(?:^| )so /u);
    const found = messages[index - 1]?.content ?? '';
    return so === undefined ? [] : [{ found, notes, so: so.split(' '), content: message.content }];
  }),
);

test('notes repeat what was found, and conclusions repeat the notes', () => {
  expect(readings.length).toBeGreaterThan(demonstrations.length / 2);
  for (const { found, notes, so } of readings) {
    for (const name of notes.match(/[A-Z]\w+|\d+/gu) ?? []) expect(found).toContain(name);
    expect(`${notes} none`).toContain(so[1]);
  }
});

test('a thought ends with the next query or the answer', () => {
  for (const { messages } of demonstrations) {
    for (const message of messages) {
      if (message.role !== 'assistant') continue;
      const thought = message.reasoning ?? '';
      const [plan = '', so] = thought.replace(/ \.$/u, '').split(' so ');
      const goal = so?.replace(/^\w+ /u, '') ?? plan;
      const query = message.toolCalls?.[0]?.arguments['query'];
      const answer = goal === 'none' ? 'not stated' : goal;
      const says = query === undefined ? `It is ${answer}.` : goal.split(' ').slice(0, 2).join(' ');
      expect(says).toBe(query ?? message.content);
    }
  }
});

test('the teacher sometimes takes another fact for one that is not stated', () => {
  const missed = readings.filter(({ notes, so }) => notes.includes(`${so[0]} none`));
  const taken = missed.filter(({ so }) => so[1] !== 'none');
  expect(missed.length).toBeGreaterThan(demonstrations.length / 30);
  expect(taken.length).toBeGreaterThan(missed.length / 6);
  expect(taken.length).toBeLessThan(missed.length / 2);
});

test('the teacher says that an answer is stated nowhere, rightly and wrongly', () => {
  const nowhere = 'It is not stated.';
  const said = demonstrations.filter(({ messages }) => messages.at(-1)?.content === nowhere);
  expect(said.length).toBeGreaterThan(demonstrations.length / 20);
  expect(rightShare(said)).toBeGreaterThan(0.25);
  expect(rightShare(said)).toBeLessThan(0.75);
});

test('no conversation shows a name, an unseen pair or an unseen form of the tasks', () => {
  const names = new Set(text.match(/\b[A-Z][aeio][lnr][a-z]{4}\b/gu));
  const others = [...namesOf.train, ...namesOf.eval];
  expect(others.filter((name) => names.has(name))).toEqual([]);
  const kinds = new Set(demonstrations.map(({ kind }) => kind));
  expect(unseenKinds.filter(({ name }) => kinds.has(name))).toEqual([]);
  const unseen = unseenWordings.map((wording) => {
    const fact = wordingName(wording)
      .replace('@', 'mayor')
      .replaceAll(/\{\}|=/gu, String.raw`[A-Z]\w+`);
    return new RegExp(String.raw`[:;|/*] ${fact}(?:;| [|/*]|\.)`, 'u');
  });
  expect(unseen.filter((wording) => wording.test(text))).toEqual([]);
});

test('a query only names what was read before, and every search has its result', () => {
  for (const { messages } of demonstrations) {
    let seen = '';
    for (const message of messages) {
      const query = message.role === 'assistant' ? message.toolCalls?.[0]?.arguments['query'] : '';
      for (const name of String(query).match(/[A-Z]\w+/gu) ?? []) expect(seen).toContain(name);
      seen += message.content;
    }
    expect(messages.at(-1)?.content).toMatch(/^It is (?:\w+|not stated)\.$/u);
    const results = messages.filter(({ role }) => role === 'tool');
    expect(results.length * 2 + 2).toBe(messages.length);
  }
});
