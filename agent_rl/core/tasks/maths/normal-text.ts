const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

const marks: Readonly<Record<string, string>> = {
  '\u2212': '-',
  '\u2044': '/',
  '×': '\\times ',
  '·': '\\cdot ',
  '⋅': '\\cdot ',
  '÷': '/',
  π: '\\pi ',
  '∞': '\\infty ',
  '±': '\\pm ',
  '∪': '\\cup ',
  '∈': '\\in ',
  '≈': '\\approx ',
  '√': '\\sqrt ',
};

/**
 * A text with the ways of writing the same mathematics made one: full-width characters, superscripts and vulgar fractions
 * of Unicode, spaces of all widths, and LaTeX that changes only how something looks.
 */
export const normalText = (text: string): string =>
  text
    .replaceAll(/[\uFF01-\uFF5E]/gu, (wide) => String.fromCodePoint(wide.charCodeAt(0) - 0xfee0))
    .replaceAll(/[¼½¾⅐-⅞]/gu, (vulgar) => ` ${vulgar.normalize('NFKD')}`)
    .replaceAll(/(⁻?)([⁰¹²³⁴-⁹]+)/gu, (_, minus: string, digits: string) => {
      const plain = digits.replaceAll(/./gu, (digit) => String(superscripts.indexOf(digit)));
      return `^{${minus && '-'}${plain}}`;
    })
    .replaceAll(/√\s*(\d+)/gu, '\\sqrt{$1}')
    .replaceAll(/[\u2212\u2044×·⋅÷π∞±∪∈≈√]/gu, (mark) => marks[mark] ?? mark)
    .replaceAll('{,}', ',')
    .replaceAll(
      /\\(?:(?:left|right|[bB]igg?[lr]?)(?![a-zA-Z])\.?|displaystyle(?![a-zA-Z])|!)/gu,
      '',
    )
    .replaceAll(
      /\\(?:[,;: ]|q?quad(?![a-zA-Z])|thinspace(?![a-zA-Z]))|[~\u00A0\u2000-\u200A\u202F\u205F\u3000]/gu,
      ' ',
    )
    .replaceAll(/\\[dtc]frac(?![a-zA-Z])/gu, '\\frac')
    .replaceAll(/\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![a-zA-Z]))|\\degree(?![a-zA-Z])/gu, '°')
    .replaceAll(/\\(?:lbrace|rbrace)(?![a-zA-Z])/gu, (brace) =>
      brace === '\\lbrace' ? '\\{' : '\\}',
    );
