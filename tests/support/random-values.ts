import * as fc from './properties.ts';

type Text = fc.Arbitrary<string>;

/** JSON text of what a template is given: numbers are spelt in every way, texts hold what prints oddly. */
export const randomValues = (): Text => {
  const number = pick`0 1 -7 3 40 1.0 -0.0 2.5 -1.5 1e16 1e-5 0.1 123456789012345678901234567890 86085311017016110 -0.5`;
  const text = fc
    .string({
      unit: fc.constantFrom(
        ...Array.from('aB7 \n\t\r\'"\\<é漢🙂\u00A0\u2028\u0000\u001C\uFEFFß,x'),
      ),
    })
    .map((value) => JSON.stringify(value));
  const scalar = fc.oneof(number, text, pick`null true false`);
  const list = (item: Text) => fc.array(item, { maxLength: 4 }).map((items) => `[${items.join()}]`);
  const object = (value: Text) =>
    fc
      .uniqueArray(fc.tuple(pick`"a" "b" "B" "10" "2" "items" "get" "é"`, value), {
        selector: ([key]) => key,
        maxLength: 5,
      })
      .map((entries) => `{${entries.map((entry) => entry.join(':')).join()}}`);
  return fc
    .record({
      i: pick`0 1 2 3 -3 17 9007199254740993`,
      f: number,
      s: text,
      b: pick`true false`,
      z: fc.constant('null'),
      li: list(pick`0 1 2 3 -5 2.0 7.5`),
      ls: list(text),
      lx: list(scalar),
      d: object(fc.oneof(scalar, list(scalar), object(scalar))),
      m: list(
        fc
          .record({ role: pick`"user" "tool" "system"`, content: text, n: pick`0 1 2 1.0 10` })
          .map(({ role, content, n }) => `{"role":${role},"content":${content},"n":${n}}`),
      ),
    })
    .map(
      (all) =>
        `{${Object.entries(all)
          .map(([name, value]) => `"${name}":${value}`)
          .join()}}`,
    );
};

/** One of the words of a text. */
export function pick(words: TemplateStringsArray): Text {
  return fc.constantFrom(...words.raw.join('').trim().split(/\s+/));
}
