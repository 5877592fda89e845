import { expect, test } from '@jest/globals';

import { readablePage } from '#agent_rl/search/web/pages/readable-page.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const shown = '<h1>The Aurel Bridge</h1><p>Ina Kost built the bridge.</p>';
const described = '<meta charset=utf-8><title>Bridges</title>';
const expected = { title: 'Bridges', text: '# The Aurel Bridge\n\nIna Kost built the bridge.' };

test.each([
  ['nothing', `<!doctype html><html><head>${described}</head><body>${shown}</body></html>`],
  ['<body>', `<!doctype html><html lang="en"><head>${described}</head>${shown}</html>`],
  ['<head>', `<!doctype html><html>${described}<body class="a > b">${shown}</body></html>`],
  ['<head> and <body>', `<!doctype html><html lang=en>${described}${shown}`],
  ['<html>', `<head>${described}</head><body>${shown}</body>`],
  ['every start tag', `${described}</head>${shown}</body></html>`],
  ['all of them', `${described}${shown}`],
])('a page without %s is readable', (_name, html) => {
  const { title, text } = readablePage(html);
  expect(title).toBe(expected.title);
  expect(text.replace(/^#+/, '#')).toBe(expected.text);
});

test('a page cut off in its first tag has no text', () => {
  expect(readablePage('<!doctype html><html lang="en" ')).toEqual({ title: '', text: '' });
});

test.each([
  ['is nested too deep', '<div>'.repeat(600)],
  ['is nested too deep behind end tags that end nothing', '<div></x>'.repeat(600)],
  ['has too many tags', '<br>'.repeat(50_001)],
  // Nothing that is known to break the parsers now; whatever does must say so.
  ['breaks what takes it apart', 7 as unknown as string],
])('a page that %s fails as a bad response', (_name, html) => {
  expect(thrownBy(() => readablePage(html))).toMatchObject({ kind: 'bad-response' });
});

test('escapes, ampersands and angle brackets are read as displayed', () => {
  const html = `<body><p>${'Ina &amp; Uli, a < b &lt; c & d; '.repeat(9)}</p>`;
  expect(readablePage(html).text).toBe('Ina & Uli, a < b < c & d; '.repeat(9).trim());
});
