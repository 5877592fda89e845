import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';

/** Blocks of Unicode that texts are drawn from, the last of them all of it. */
const blocks: readonly (readonly [number, number])[] = [
  [0, 0x1f],
  [0x20, 0x7e],
  [0xa0, 0x24f],
  [0x300, 0x5ff],
  [0x600, 0x8ff],
  [0x900, 0x10ff],
  [0x1100, 0x11ff],
  [0x1ab0, 0x1aff],
  [0x1d00, 0x2bff],
  [0x3000, 0x33ff],
  [0x4e00, 0x9fff],
  [0xa640, 0xabff],
  [0xac00, 0xd7a3],
  [0xe000, 0xfaff],
  [0xfb00, 0xffff],
  [0x10000, 0x16fff],
  [0x1c000, 0x1efff],
  [0x1f000, 0x1ffff],
  [0x20000, 0x33fff],
  [0xe0000, 0xe01ff],
  [0xf0000, 0x10ffff],
  [0, 0x10ffff],
];

/** Digits, fractions and other numbers of many scripts; the last are of Unicode 17. */
const numbers = Array.from(
  '0123456789٠١٢३४৫੬௭೮๙༠᠑０９𝟎𝟿🯰²³¹⁰⁹₀½¼¾⅓⅛ⅠⅣⅫↀⅻ〇〡㉈①⑳❶㊿൰௰𐄇𝍠𑁦\u{1ccf0}\u{11de5}\u{16ff4}',
);

const blanks = [
  ...Array.from(
    '\t\n\v\f\r\u001C\u001D\u001E\u001F\u0085\u00A0\u1680\u180E\u2000\u2009\u200B\u200C\u200D\u2028\u2029\u202F',
  ),
  ...Array.from('\u205F\u2060\u3000\uFEFF'),
  '\r\n',
  '\n\n',
  ' ',
  '  ',
  '    ',
];

const pieces = [
  ..."'s 'S 'ſ 're 'RE 'Ve 'll 'LL 'm 't 'T 'd ’s don't It'S \u212A ß SS ﬁ İ Σ hello the Function".split(
    ' ',
  ),
  // Marks, in and out of their canonical order, and pairs that compose since a later version of Unicode.
  ...'\u0301 \u0338 \u0345\u0323 \u0334\u0301 e\u0301 q\u0323\u0307 \u212B 가 \u1100\u1161\u11A8 \u32FF'.split(
    ' ',
  ),
  ...'\u{113C2}\u{113C2} \u{1611E}\u{1611E} \u{16D63}\u{16D67} \u0898 \u1ABF \u{10EFD} \u0295'.split(
    ' ',
  ),
  ...'👩‍👩‍👧 🇩🇪 ❤️ 👍🏽 हिन्दी ไทย العربية 日本語 한국어 \uD800 \uDC00 $& ... ?! -- # // \\n <| |> < ▁ Ġ Ċ'.split(
    ' ',
  ),
];

/** Texts that tell tokenizers apart: numbers, blanks, marks, contractions and any other characters, in any order. */
export function oddTexts(count: number, name = 'odd texts'): readonly string[] {
  const rng = new KeyedRng(name);
  const one = (texts: readonly string[]): string => texts[rng.integer(texts.length)]!;
  const any = (): string => {
    const [first, last] = blocks[rng.integer(blocks.length)]!;
    return String.fromCodePoint(first + rng.integer(last - first + 1));
  };
  const kinds = [
    any,
    () => any() + any(),
    () => Array.from({ length: 1 + rng.integer(5) }, () => one(numbers)).join(''),
    () => String(rng.integer(100_000)),
    () => one(blanks),
    () => one(blanks) + one(blanks),
    () => one(pieces),
    () => ` ${one(pieces)}`,
  ];
  const part = (): string => kinds[rng.integer(kinds.length)]!();
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + rng.integer(1 + rng.integer(20)) }, part).join(''),
  );
}
