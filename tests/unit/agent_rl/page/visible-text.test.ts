import { describe, expect, test } from '@jest/globals';

import { escapeUnseen, visibleText } from '#agent_rl/page/text/visible-text.ts';

const shown = (text: string): string =>
  visibleText(text)
    .map((part) => (part.escaped ? `[${part.text}]` : part.text))
    .join('');

describe('Text on the page', () => {
  test.each([
    ['keeps markup as it is', '<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['shows terminal escapes', 'a\u001b[31mred', 'a[\\x1b][31mred'],
    ['shows marks that change the direction', 'user\u202etxt.exe', 'user[\\u202e]txt.exe'],
    ['shows neighbouring controls as one stretch', '\u0000\u0007x', '[\\x00\\x07]x'],
    ['shows zero-width characters', 'a\u200bb\ufeff', 'a[\\u200b]b[\\ufeff]'],
    ['shows tag characters', 'a\u{e0041}', 'a[\\u{e0041}]'],
    ['shows lone surrogates', 'a\ud800b', 'a[\\ud800]b'],
    ['keeps the replacement character of broken UTF-8', 'a\ufffdb', 'a\ufffdb'],
    ['keeps lines, tabs, joined emoji and other scripts', '1\n\t👩‍🚀 שלום', '1\n\t👩‍🚀 שלום'],
  ])('%s', (_, text, expected) => {
    expect(shown(text)).toBe(expected);
    expect(escapeUnseen(text)).toBe(expected.replaceAll(/\[(\\[^\]]+)\]/g, '$1'));
  });

  test('has at most 10,001 parts, and one part if all characters are invisible', () => {
    expect(visibleText('\u001b'.repeat(1_000_000))).toHaveLength(1);
    const parts = visibleText('a\u001b'.repeat(100_000));
    expect(parts.length).toBeLessThanOrEqual(10_001);
    expect(parts.map(({ text }) => text).join('')).toBe('a\\x1b'.repeat(100_000));
  });
});
