import { expect, test } from '@jest/globals';

import {
  documentText,
  trainedWordings,
  unseenWordings,
  wordingName,
} from '#dataset/search_tasks/generator/form.ts';

const subject = {
  title: 'Velmora',
  type: 'town',
  facts: [
    { relation: 'mayor', value: 'Tamlina', earlier: false },
    { relation: 'mayor', value: 'Kelpano', earlier: true },
  ],
} as const;

test('no wording is both trained and unseen', () => {
  const trained = new Set(trainedWordings.map(wordingName));
  expect(unseenWordings.filter((one) => trained.has(wordingName(one)))).toEqual([]);
});

test.each(['mention', 'link'] as const)(
  'each %s of an unseen wording is trained with several others',
  (part) => {
    for (const unseen of unseenWordings) {
      const alike = trainedWordings.filter((one) => one[part] === unseen[part]);
      expect(alike.length).toBeGreaterThan(3);
    }
  },
);

test('a document states its facts in its form, each up to where it ends', () => {
  const form = { opening: 'A #: ', separator: ' | ' } as const;
  const { text, ends } = documentText(subject, { ...form, mention: 'the {} @', link: '@ is =' });
  expect(text).toBe('A town: the Velmora mayor is Tamlina | the Velmora former mayor is Kelpano.');
  expect(ends.map((end) => text.slice(0, end))).toEqual([
    'A town: the Velmora mayor is Tamlina',
    'A town: the Velmora mayor is Tamlina | the Velmora former mayor is Kelpano',
  ]);
  const other = { opening: 'Known of {}: ', separator: '; ' } as const;
  expect(documentText(subject, { ...other, mention: "{}'s @", link: '= as @' }).text).toBe(
    "Known of Velmora: Tamlina as Velmora's mayor; Kelpano as Velmora's former mayor.",
  );
});
