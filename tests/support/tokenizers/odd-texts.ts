import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';

/** Blocks of Unicode that texts are drawn from, the last of them all of it. */
const blocks =
  '0-1f 20-7e a0-24f 300-5ff 600-8ff 900-10ff 1100-11ff 1ab0-1aff 1d00-2bff 3000-33ff 4e00-9fff a640-abff ac00-d7a3 e000-faff fb00-ffff 10000-16fff 1c000-1efff 1f000-1ffff 20000-33fff e0000-e01ff f0000-10ffff 0-10ffff'
    .split(' ')
    .map((block) => block.split('-').map((end) => parseInt(end, 16)) as [number, number]);

/** Digits, fractions and other numbers of many scripts; the last are of Unicode 17. */
const numbers = Array.from(
  '0123456789٠١٢३४৫੬௭೮๙༠᠑０９𝟎𝟿🯰²³¹⁰⁹₀½¼¾⅓⅛ⅠⅣⅫↀⅻ〇〡㉈①⑳❶㊿൰௰𐄇𝍠𑁦\u{1ccf0}\u{11de5}\u{16ff4}',
);

const blanks = Array.from(
  '\t\n\v\f\r\u001C\u001D\u001E\u001F\u0085\u00A0\u1680\u180E\u2000\u2009\u200B\u200C\u200D\u2028\u2029\u202F\u205F\u2060\u3000\uFEFF',
).concat('\r\n', '\n\n', ' ', '  ', '    ');

const pieces = [
  "'s 'S 'ſ 're 'RE 'Ve 'll 'LL 'm 't 'T 'd ’s don't It'S \u212A ß SS ﬁ İ Σ hello the Function",
  // Marks, in and out of their canonical order, and pairs that compose since a later version of Unicode.
  '\u0301 \u0338 \u0345\u0323 \u0334\u0301 e\u0301 q\u0323\u0307 \u212B 가 \u1100\u1161\u11A8 \u32FF',
  '\u{113C2}\u{113C2} \u{1611E}\u{1611E} \u{16D63}\u{16D67} \u0898 \u1ABF \u{10EFD} \u0295',
  '👩‍👩‍👧 🇩🇪 ❤️ 👍🏽 हिन्दी ไทย العربية 日本語 한국어 \uD800 \uDC00 $& ... ?! -- # // \\n <| |> < ▁ Ġ Ċ',
].flatMap((some) => some.split(' '));

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
