import { describe, expect, test } from '@jest/globals';

import { escapeUnseen, visibleText } from '#agent_rl/page/text/visible-text.ts';

const shown = (text: string): string =>
  visibleText(text)
    .map((part) => (part.escaped ? `[${part.text}]` : part.text))
    .join('');

describe('text as the page shows it', () => {
  test.each([
    ['markup stays as it is', '<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['terminal escapes are written out', 'a\u001b[31mred', 'a[\\x1b][31mred'],
    ['what turns the direction is written out', 'user\u202etxt.exe', 'user[\\u202e]txt.exe'],
    ['neighbours are one stretch', '\u0000\u0007x', '[\\x00\\x07]x'],
    ['characters without width are written out', 'a\u200bb\ufeff', 'a[\\u200b]b[\\ufeff]'],
    ['tag characters are written out', 'a\u{e0041}', 'a[\\u{e0041}]'],
    ['half a pair is written out', 'a\ud800b', 'a[\\ud800]b'],
    ['what stood for broken UTF-8 stays', 'a\ufffdb', 'a\ufffdb'],
    ['lines, tabs, joined emoji and other scripts stay', '1\n\t👩‍🚀 שלום', '1\n\t👩‍🚀 שלום'],
  ])('%s', (_, text, expected) => {
    expect(shown(text)).toBe(expected);
    expect(escapeUnseen(text)).toBe(expected.replaceAll(/\[(\\[^\]]+)\]/g, '$1'));
  });

  test('a text of nothing but such characters is one element, and one that alternates has no more than 10,001', () => {
    expect(visibleText('\u001b'.repeat(1_000_000))).toHaveLength(1);
    const parts = visibleText('a\u001b'.repeat(100_000));
    expect(parts.length).toBeLessThanOrEqual(10_001);
    expect(parts.map(({ text }) => text).join('')).toBe('a\\x1b'.repeat(100_000));
  });
});
