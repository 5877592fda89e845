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
    .replaceAll(/(?<=^\s*|[=([{:]\s*)[–—](?=\s*[\d.$\\])/gu, '-')
    .replaceAll(/(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))/gu, '\\times ')
    .replaceAll(/(?<=\d) and a half(?!\p{L})/giu, ' 1/2')
    .replaceAll(/√\s*(\d+)/gu, '\\sqrt{$1}')
    .replaceAll(/[\u2212\u2044×·⋅÷π∞±∪∈≈√]/gu, (mark) => marks[mark] ?? mark)
    .replaceAll('{,}', ',')
    .replaceAll(
      /\\(?:(?:left|right|[bB]igg?[lr]?)(?![a-zA-Z])\.?|(?:displaystyle|bf|rm)(?![a-zA-Z])|!|(?:begin|end)\s*\{aligned\*?\}|(?:text)?color\s*\{\w+\})|(?<!\\)&(?==)/gu,
      '',
    )
    .replaceAll(
      /\\(?:[,;: ]|q?quad(?![a-zA-Z])|thinspace(?![a-zA-Z]))|[~\u00A0\u2000-\u200A\u202F\u205F\u3000]/gu,
      ' ',
    )
    .replaceAll(
      /\\[dt]?frac\s*\{\s*(\\(?:text|mathrm|textrm)\s*\{[A-Za-z ]+\})\s*\}\s*\{\s*(\\(?:text|mathrm|textrm)\s*\{[A-Za-z ]+\})\s*\}/gu,
      '$1/$2',
    )
    .replaceAll(/\\[dtc]frac(?![a-zA-Z])/gu, '\\frac')
    .replaceAll(/\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![a-zA-Z]))|\\degree(?![a-zA-Z])/gu, '°')
    .replaceAll(/\\(?:lbrace|rbrace)(?![a-zA-Z])/gu, (brace) =>
      brace === '\\lbrace' ? '\\{' : '\\}',
    );
