import * as fc from './properties.ts';
import { pick } from './random-values.ts';

/*
 * Small Jinja templates of the constructs that published chat templates use. An expression is made by
 * the type that it should have, and now and then by none, so that most templates render and some fail as Python does.
 */

type Text = fc.Arbitrary<string>;

/** One of the lines of a text; N, T, L, D, B and X in capitals between `«»` are expressions of that type. */
const lines = (text: TemplateStringsArray): readonly string[] =>
  text.raw.join('').trim().split(/\n\s*/);

const forms = {
  N: lines`
    «N» + «N»
    «N» - «N»
    «N» * «N»
    «N» / «N»
    «N» // «N»
    «N» % «N»
    -«N»
    -«N»|abs
    (-«N»)|abs
    «N»|int
    «T»|int
    «T»|int(7)
    «T»|float
    «N»|round
    «N»|round(1)
    2 ** 3 ** 2
    -2 ** 2
    10 ** 20
    «L»|length
    «T»|length
    «D»|length
    «L»|sum
    «L»|min
    «L»|max
    «T».find(«T»)
    «T».count(«T»)
    («N» if «B» else «N»)
    «L»[0]
    «L»[-1]
    «L»|first
    «L»|last
    true + «N»
    ns.n`,
  T: lines`
    «T» ~ «X»
    «X» ~ «N»
    «T» + «T»
    «T» * 2
    3 * «T»
    'a' 'b'
    «T».strip()
    «T».lstrip()
    «T».rstrip()
    «T».strip('\n a')
    «T».rstrip('\n')
    «T».lstrip('🙂')
    «T»|trim
    «X»|trim
    «T».split('a')[0]
    «T».split('</think>')[-1]
    «T».upper()
    «T».lower()
    «T».title()
    «T».capitalize()
    «T»|upper
    «T»|lower
    «T»|title
    «T»|capitalize
    «X»|upper
    «T».replace(«T», «T»)
    «T».replace('a', '$&')
    «T»|replace('a', «T»)
    «T»[1:]
    «T»[:-1]
    «T»[::-1]
    «T»[0]
    «T»|first
    «T»|reverse
    «X»|string
    «N»|string
    «L»|join
    «L»|join(«T»)
    «T».join(ls)
    m|map(attribute='role')|join(', ')
    «X»|tojson
    «L»|tojson
    «D»|tojson
    «D»|tojson(indent=2)
    «L»|tojson(indent=4)
    «D»|tojson(sort_keys=true)
    «X»|tojson(ensure_ascii=True)
    «D»|tojson(separators=(',', ':'))
    {1: 'a', none: 'b', true: 2, 1.5: []}|tojson
    '%s' % «X»
    '%s|%d' % («T», «N»)
    '%s and %s'|format(«X», «T»)
    '{} {}'.format(«X», «N»)
    '{:.2f}'.format(«N»)
    «T»|e
    «T»|safe
    «T»|indent
    «T»|indent(2, first=true)
    «X»|default(«T»)
    «X»|default(«T», true)
    («T» if «B» else «T»)
    («T» if «B»)
    macro(«X»)
    macro(«X», b=«X»)
    ns.t
    block
    strftime_now('%d %b %Y')`,
  L: lines`
    [«X», «X»]
    [«N», «N», «N»]
    («X», «X»)
    («X»,)
    «L» + «L»
    «L» * 2
    «L»[1:]
    «L»[:-1]
    «L»[::-1]
    «L»[-3:2]
    «L»|reverse|list
    «L»|list
    «T»|list
    «L»|sort
    «L»|sort(reverse=true)
    ls|sort
    ls|sort(case_sensitive=true)
    m|sort(attribute='n')
    «L»|unique|list
    «T».split()
    «T».split(«T»)
    «T».split('a', 1)
    «T».rsplit(' ', 1)
    «T».splitlines()
    «T».partition('a')
    range(«N»)|list
    range(3, 0, -1)|list
    «D».keys()|list
    «D».values()|list
    «D».items()|list
    «D»|items|list
    «D»|dictsort
    «D»|dictsort(by='value')
    «D»|list
    «L»|map('string')|list
    ls|map('upper')|list
    ls|map('length')|list
    ls|map('trim')|list
    m|map(attribute='content')|list
    m|map(attribute='nope', default='-')|list
    «L»|select('string')|list
    «L»|select|list
    «L»|reject('none')|list
    m|selectattr('role', 'equalto', 'user')|list
    m|rejectattr('n', 'eq', 1)|list
    m|selectattr('n', 'in', [1, 2])|list
    m|selectattr('n')|list
    m|selectattr('nope', 'defined')|list
    m|groupby('role')|list
    «L»|batch(2)|list
    («L» if «B» else «L»)
    «L» or «L»`,
  D: lines`
    {'a': «X», 'b': «X»}
    {'2': «N», 'a': «T», '1': «X»}
    {1: «X», none: «X», true: «X», 2.0: «X»}
    dict(a=«X», b=«X»)
    dict(«D», c=«X»)
    m[0]
    («D» if «B» else «D»)`,
  B: lines`
    «X» == «X»
    «N» == «N»
    «L» == «L»
    «D» != «D»
    «N» < «N»
    «N» >= «N» > «N»
    «N» < «N» == true
    «T» <= «T»
    «L» < «L»
    «T» in «T»
    «X» in «L»
    «X» not in «L»
    «T» in «D»
    not «X»
    not «X» in «L»
    «B» and «B»
    «B» or not «B»
    «X» is none
    «X» is not none
    «X» is string
    «X» is mapping
    «X» is sequence
    «X» is iterable and «X» is not mapping
    «X» is number
    «X» is integer
    «X» is float
    «X» is boolean
    «X» is true
    «X» is false
    u is defined
    d.a is defined
    d['zz'] is undefined
    «N» is odd
    «N» is divisibleby 3
    «X» is eq «X»
    «T».startswith(«T»)
    «T».endswith(('a', «T»))
    «T».isdigit()
    «T».isspace()
    «D».get('a') is none`,
  X: lines`
    «N»
    «T»
    «L»
    «D»
    «B»
    «X» or «X»
    «X» and «X»
    «X» if «B»
    «X» if «B» else «X»
    d.a
    d['10']
    d.b.c
    «D».get('a')
    «D».get('zz', «X»)
    lx[0]
    lx[«N»]
    m[-1].content
    «X»|default`,
} as const;

type Type = keyof typeof forms;

const types: readonly Type[] = ['N', 'T', 'L', 'D', 'B', 'X'];

const leaves: Readonly<Record<Type, Text>> = {
  N: pick`i i f 0 1 2 3 7 1.0 2.5 1e3 0.1 1_000`,
  T: fc.oneof(
    pick`s s ls[0] m[0].content ''`,
    fc.constantFrom(
      ...lines`
        'a'
        "it's"
        ' \n x \t'
        'é🙂\u00e9\x41'
        'say "a" \\'
        "\'\""
        '</think>'
        'hELLO wORLD'`,
    ),
  ),
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

const statementForms = lines`
  {% if «B» %}«S»{% endif %}
  {% if «X» %}«S»{% elif «X» %}«S»{% else %}«S»{% endif %}
  {% for x in «L» %}«S»{{ x }}{{ loop.index }}{{ loop.last }}{% endfor %}
  {% for x in «L» if x %}{{ loop.index0 }}/{{ loop.length }}:{{ x }}«S»{% else %}«S»{% endfor %}
  {% for x in «L» %}{% if loop.first %}{% continue %}{% endif %}{{ x }}{% if loop.index > 2 %}{% break %}{% endif %}{% endfor %}
  {% for x in m %}{{ x.role }}{{ loop.previtem is defined }}{{ loop.nextitem is defined }}{{ loop.revindex }}{{ loop.cycle('a', 'b') }}{% endfor %}
  {% for k, v in «D».items() %}{{ k }}={{ v }}{% if not loop.last %}, {% endif %}{% endfor %}
  {% for k, v in «D»|dictsort %}{{ k }}:{{ v|tojson }}«S»{% endfor %}
  {% for k in «D» %}{{ k }}{% endfor %}
  {% for c in «T» %}[{{ c }}]{% endfor %}
  {% set i = «N» %}{{ i }}«S»
  {% set s = «T» %}«S»
  {% set p, q = «N», «T» %}{{ q }}{{ p }}
  {% set ns.n = ns.n + 1 %}{% set ns.t = «T» %}«S»
  {% set block %}«S»{{ «X» }}{% endset %}{{ block|length }}«S»
  {% for x in li %}{% set i = i + x %}{% set ns.n = ns.n + x %}{% endfor %}{{ i }}{{ ns.n }}
  {% macro other(x, y=«X») %}«S»{{ x }}{{ y }}{% endmacro %}{{ other(«X») }}{{ other(y=«X», x=1) }}
  {% raw %}{{ x }} {% if %}{% endraw %}«S»
  {# a comment {{ x }} #}«S»
  {% filter upper %}«S»{% endfilter %}
  {% generation %}«S»{% endgeneration %}
  {{ «X» }}
  {{ «T» }}«S»
  «S»«S»`;

const gap = fc.constantFrom(
  '',
  '',
  ' ',
  '\n',
  '  \n',
  '\n\n  ',
  'a',
  ' b ',
  '\r\n',
  '\t',
  'é\n  ',
  ' { ',
);

/** Statements between white space; a third of the tags have `-` or `+`. */
const statements = kept((_: 'S', depth: number): Text => {
  const inner = depth > 0 ? fc.tuple(gap, statements('S', depth - 1), gap).map(joined) : gap;
  const all = statementForms.map((form) => {
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
