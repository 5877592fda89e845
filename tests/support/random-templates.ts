import { readFileSync } from 'node:fs';

import * as fc from './properties.ts';
import { pick } from './random-values.ts';

// Small Jinja templates of the constructs that published chat templates use. An expression is made by
// the type that it should have, and now and then by none, so that most templates render and some fail as Python does.

type Text = fc.Arbitrary<string>;

const types = ['N', 'T', 'L', 'D', 'B', 'X'] as const;
type Type = (typeof types)[number];

/**
 * Forms by what they are: expressions of each type, statements (S), literal texts. N, T, L, D, B, X and S between `«»` are places for
 * such forms.
 */
const forms = Object.fromEntries(
  readFileSync(new URL('../fixtures/jinja/template-forms.txt', import.meta.url), 'utf8')
    .split(/^# /m)
    .slice(1)
    .map((section) => section.trimEnd().split('\n'))
    .map(([name, ...lines]) => [name, lines]),
) as Readonly<Record<Type | 'S' | 'text', readonly string[]>>;

const leaves: Readonly<Record<Type, Text>> = {
  N: pick`i i f 0 1 2 3 7 1.0 2.5 1e3 0.1 1_000`,
  T: fc.oneof(pick`s s ls[0] m[0].content ''`, fc.constantFrom(...forms.text)),
  L: pick`li ls lx m [] ()`,
  D: pick`d {}`,
  B: pick`b true false True`,
  X: pick`i f s b z li ls lx d m none u true 1.0 'x'`,
};

/** An expression of a type, some levels deep; one in forty has another type. */
const expression = kept((type: Type, depth: number): Text => {
  if (depth === 0) return leaves[type];
  const deeper = (asked: Type): Text => expression(asked, depth - 1);
  return fc.oneof(
    { weight: 8, arbitrary: leaves[type] },
    { weight: 31, arbitrary: fc.oneof(...forms[type].map((form) => filled(form, deeper))) },
    { weight: 1, arbitrary: fc.oneof(...types.map(deeper)) },
  );
});

/** A function that is asked once for each kind and depth: a tree of arbitraries would grow with every level. */
function kept<Kind extends string>(
  make: (kind: Kind, depth: number) => Text,
): (kind: Kind, depth: number) => Text {
  const made = new Map<string, Text>();
  return (kind, depth) => {
    const key = `${kind}${depth}`;
    const text = made.get(key) ?? make(kind, depth);
    made.set(key, text);
    return text;
  };
}

/** A form whose places are filled; what has spaces is put into brackets, most of the time. */
function filled(form: string, of: (type: Type) => Text): Text {
  const pieces = form.split(/«([NTLDBX])»/);
  const parts = pieces.map((piece, place) =>
    place % 2 === 0 ? fc.constant(piece) : fc.tuple(of(piece as Type), bracketed).map(inPlace),
  );
  return fc.tuple(...parts).map(joined);
}

const bracketed = fc.integer({ min: 0, max: 11 }).map((value) => value > 0);
const inPlace = ([text, brackets]: [string, boolean]): string =>
  brackets && /[ |-]/.test(text) ? `(${text})` : text;

const gaps = ['', '', ' ', '\n', '  \n', '\n\n  ', 'a', ' b ', '\r\n', '\t', 'é\n  ', ' { '];
const gap = fc.constantFrom(...gaps);

/** Statements between white space; a third of the tags have `-` or `+`. */
const statements = kept((_: 'S', depth: number): Text => {
  const inner = depth > 0 ? fc.tuple(gap, statements('S', depth - 1), gap).map(joined) : gap;
  const all = forms.S.map((form) => {
    const parts = form
      .split(/«([NTLDBXS])»/)
      .map((piece, place) =>
        place % 2 === 0 ? controlled(piece) : piece === 'S' ? inner : expression(piece as Type, 2),
      );
    return fc.tuple(...parts).map(joined);
  });
  return fc.oneof(...all);
});

const joined = (texts: readonly string[]): string => texts.join('');

const control = fc.constantFrom('', '', '', '', '-', '-', '+');

/** The text with `-` or `+` at the edges of its tags. */
function controlled(text: string): Text {
  const pieces = text.split(/(?<=\{[%{#])|(?=[%}#]\})(?<!\})/);
  const controls = fc.array(control, { minLength: pieces.length, maxLength: pieces.length });
  return controls.map((all) =>
    pieces
      .map((piece, at) => {
        const sign = all[at] ?? '';
        const afterTag = /\{[%#{]$/.test(piece) && (sign !== '+' || piece.endsWith('%'));
        return afterTag ? piece + sign : piece;
      })
      .join(''),
  );
}

const opening = `{% set ns = namespace(n=1, t='t') %}{% macro macro(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}`;

/** A template with the names of `randomValues`. */
export const randomTemplate = (): Text =>
  fc.tuple(gap, statements('S', 2), gap).map((all) => opening + all.join(''));
