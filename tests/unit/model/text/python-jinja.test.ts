import { expect, test } from '@jest/globals';

import { pythonFunctions, pythonTemplate } from '#model/text/python-jinja.ts';

const rendered = (source: string, values: Readonly<Record<string, unknown>> = {}): string =>
  pythonTemplate(source).render({ ...values, ...pythonFunctions('2024-07-26') });

test.each([
  [String.raw`[{{ x.strip('\n') }}]`, '\n a \n', '[ a ]'],
  [String.raw`[{{ x.lstrip('\n') }}]`, '\n\n a\n', '[ a\n]'],
  [String.raw`[{{ x.rstrip('\n ') }}]`, ' a \n \n', '[ a]'],
  ["[{{ x.strip('🙂a') }}]", 'a🙂b🙂a', '[b]'],
  ['[{{ x.strip() }}]', ' \n a \n ', '[a]'],
  [String.raw`[{{ x.split('|')[-1].lstrip('\n').strip('b') }}]`, 'a|\nb cb', '[ c]'],
])('%s strips what Python strips', (source, x, text) => {
  expect(rendered(source, { x })).toBe(text);
});

test('says what cannot be stripped', () => {
  expect(() => rendered("{{ x.strip('a') }}", { x: 3 })).toThrow(/both must be text/);
});

test('shows the day that is set, also to templates that look whether they can ask', () => {
  const source = '{% if strftime_now is defined %}{{ strftime_now("%d %b %Y") }}{% endif %}';
  expect(rendered(source)).toBe('26 Jul 2024');
});
