const anything = (value: unknown): never => value as never;
const code = 'def f(*a): return list(a)';

/** The kinds of requests that have a field. */
const kindsWith = {
  code: ['run', 'calls', 'judge'],
  stdin: ['run'],
  files: ['run'],
  entry: ['calls'],
  args: ['calls'],
  tests: ['judge'],
} as const;

const whole = {
  run: { code },
  calls: { code, entry: 'f', args: [[1]] },
  judge: { code, tests: { statements: [] } },
} as const;

function cyclic(): unknown {
  const list: unknown[] = [];
  list.push(list);
  return list;
}

/** Lists that hold one another twice, 2^60 in all. */
function shared(): unknown {
  let list: unknown = [];
  for (let i = 0; i < 60; i++) list = [list, list];
  return list;
}

/** Lists nested this deeply. */
function deep(depth: number): unknown {
  let list: unknown[] = [];
  for (let i = 1; i < depth; i++) list = [list];
  return list;
}

/** What cannot be the second argument of the second call, and what the message is. Made anew for each test. */
export const badArguments: [string, () => unknown, RegExp][] = [
  ['a BigInt', () => 1n, /^args\[1\]\[1\] holds a BigInt; write \{"\$int": "digits"\}$/],
  ['a BigInt in a list', () => [[1n]], /^args\[1\]\[1\] holds a BigInt/],
  ['a BigInt behind an unknown tag', () => ({ $foo: 1n }), /^args\[1\]\[1\] holds a value that/],
  ['undefined', () => undefined, /^args\[1\]\[1\] holds undefined; allowed are null, booleans/],
  ['a hole', () => Array.from({ length: 2 }).fill(1, 0, 1), /holds undefined/],
  ['nan', () => NaN, /^args\[1\]\[1\] holds NaN; write \{"\$float": "nan"\}$/],
  ['infinity', () => [-Infinity], /holds -Infinity; write \{"\$float": "-inf"\}$/],
  ['a function', () => () => 1, /holds a function; allowed are/],
  ['a symbol', () => Symbol('x'), /holds a symbol; allowed are/],
  ['an object of a class', () => ({ a: new Map() }), /holds an object of a class; allowed are/],
  ['a list that holds itself', cyclic, /is nested more than 100 deep, or holds itself$/],
  ['lists that share their members', shared, /is nested|above \d+ characters/],
  ['101 lists in one another', () => deep(101), /is nested more than 100 deep/],
  ['2,000 lists in one another', () => deep(2000), /is nested more than 100 deep/],
  ['50,000 lists in one another', () => deep(50_000), /is nested more than 100 deep/],
  ['an unknown tag', () => ({ $foo: 1 }), /"\$foo" is not a tag; tags are \$int/],
  ['digits that are invalid', () => ({ $int: 'x' }), /is not a Python value|digits are needed/],
  ['pairs that are invalid', () => ({ $dict: [1] }), /is not a Python value/],
  ['base64 that is not valid', () => ({ $bytes: 'A' }), /holds no base64 as its bytes$/],
  ['an integer that JSON rounds', () => 1e30, /integers beyond 2\^53 are written/],
  ['a list in a set', () => ({ $set: [{ $tuple: [[1]] }] }), /holds a list in a set or as a key/],
  ['a dictionary as a key', () => ({ $dict: [[{}, 1]] }), /holds a dict in a set or as a key/],
];

/** A valid request of a kind, with other fields. */
const of = (kind: keyof typeof whole, more: object): never =>
  anything({ kind, ...whole[kind], ...more });
const judging = (more: object): never => of('judge', { tests: { statements: [], ...more } });

/** Requests that cannot be run, and what the message is. */
export const badRequests: [string, never, RegExp][] = [
  ['no request', anything(undefined), /^the request must be an object, got undefined$/],
  ['null', anything(null), /^the request must be an object, got null$/],
  ['a number', anything(5), /^the request must be an object, got 5$/],
  ['no kind', anything({ code }), /^kind is undefined; it must be one of run, calls, judge$/],
  ['a kind of its own', anything({ kind: 'toString', code }), /^kind is "toString"; it must be/],
  [
    'an unknown field',
    of('run', { stding: '' }),
    /unknown field "stding"; the known fields are kind/,
  ],
  ['an owner', of('run', { owner: 5 }), /^owner must be a string, got 5$/],
  ['no input', of('run', { stdin: null }), /^stdin must be a string, got null$/],
  ...badOf(
    'seed',
    ['abc', Number.NaN, null, 1.5, 2 ** 60, {}],
    (shown) => `^seed is ${shown}; it must be an integer between`,
  ),
  ...badOf('limits', [null, 5, [], 'x'], (shown) => `^limits must be an object, got ${shown}$`),
  ...badOf(
    'wallS',
    ['5', null, undefined, Number.NaN, 0, 1e-9, 0.0099, 3601, Infinity],
    (shown) => `^limits.wallS is ${shown}; it must be a number from 0.01 to 3600 s$`,
    limit('wallS'),
  ),
  ...badOf(
    'memoryMiB',
    ['128', null, 63, 1e9],
    (shown) => `^limits.memoryMiB is ${shown}; it must be a number from 64 to 1024 MiB$`,
    limit('memoryMiB'),
  ),
  [
    'an unknown limit',
    of('judge', { limits: { wallMs: 5 } }),
    /^limits has the unknown field "wallMs"; the known fields are wallS, memoryMiB$/,
  ],
  ...badOf(
    'files',
    [null, 5, [], 'x'],
    (shown) => `^files must be an object of contents by path, got ${shown}$`,
  ),
  [
    'a file that is a folder',
    of('run', { files: { 'a/b': 'eA==', a: 'eA==' } }),
    /^the path "a" in files is a file and the folder of "a\/b"/,
  ],
  [
    'a file deep in a file',
    of('run', { files: { a: '', 'a/b/c': '' } }),
    /^the path "a" in .* file and/,
  ],
  ['a file that is not text', of('run', { files: { a: 5 } }), /"a" in files is not base64, got 5$/],
  ['a path of 2,000 bytes', of('run', { files: { ['a/'.repeat(1000) + 'a']: '' } }), /1024 bytes$/],
  [
    'no lists of arguments',
    of('calls', { args: [[1], 2] }),
    /^args must be a list of lists of arguments, got 2 at 1$/,
  ],
  ['no tests', of('judge', { tests: null }), /^tests must be an object, got null$/],
  ['tests of another kind', judging({ stetup: '' }), /^tests has the unknown field "stetup"/],
  ['odd statements', judging({ statements: ['1', 1] }), /^tests.statements must .* got 1 at 1$/],
  ['classes that are not texts', judging({ classes: 5 }), /^tests.classes must .* strings, got 5$/],
  ['names that are not texts', judging({ names: null }), /^tests.names must .* strings, got null$/],
  ...odd('code', [undefined, null, 42, ['print(1)']], /^code must be a string, got /),
  ...odd('code', ['x = 1\n'.repeat(350_000)], /^code has 2100000 characters, at most 1048576/),
  ...odd('stdin', [42, 'x'.repeat(17 << 20)], /^stdin (must be a string|has 17825792 characters)/),
  ...odd('entry', [undefined, 42], /^entry must be a string, got /),
  ...odd('args', [undefined, 'x', [1]], /^args must be a list of lists of arguments, got /),
  ...odd(
    'args',
    [[['x'.repeat(17 << 20)]]],
    /^args\[0\]\[0\] brings args above 16777216 characters/,
  ),
  ...odd(
    'tests',
    [{}, { statements: 'assert 1' }, { statements: [1] }],
    /^tests\.statements must be/,
  ),
  ...odd('tests', [{ statements: [], setup: 1 }], /^tests\.setup must be a string, got 1$/),
  ...odd('tests', [{ statements: [], entry: [] }], /^tests\.entry must be a string, got a list$/),
  ...odd('tests', [{ statements: [], names: 'f' }], /^tests\.names must be a list of strings/),
  ...odd('tests', [{ statements: ['x'.repeat(5 << 20)] }], /^tests as JSON has \d+ characters/),
  ...(
    [
      ['/etc/passwd', /must be relative/],
      ['../up', /leads out/],
      ['a/../../up', /leads out/],
      ['a\0b', /NUL/],
      ['', /empty part/],
      ['a//b', /empty part/],
      ['a/', /empty part/],
      ['./a', /empty part/],
      ['a\ud800', /surrogate/],
      ['é'.repeat(128), /more than 255 bytes/],
    ] as const
  ).flatMap(([path, message]) => odd('files', [{ [path]: 'eA==' }], message)),
  ...odd(
    'files',
    ['x', 'ab=c', 'ab c', 'ab_-', 42].map((content) => ({ a: content })),
    /^the content of "a" in files is not base64/,
  ),
];

type BadRequest = (typeof badRequests)[number];

function limit(name: string): (value: unknown) => object {
  return (value) => ({ limits: { [name]: value } });
}

/** A request for each value of a field and each kind that has the field. */
function odd(
  field: keyof typeof kindsWith,
  values: readonly unknown[],
  message: RegExp,
): BadRequest[] {
  return kindsWith[field].flatMap((kind) =>
    values.map((value): BadRequest => {
      const shown = JSON.stringify(value)?.slice(0, 40);
      const request = anything({ kind, ...whole[kind], [field]: value });
      return [`${kind} with ${shown} as ${field}`, request, message];
    }),
  );
}

/** A run for each value of a field. `message` is given the value as it is shown. */
function badOf(
  field: string,
  values: readonly unknown[],
  message: (shown: string) => string,
  put: (value: unknown) => object = (value) => ({ [field]: value }),
): BadRequest[] {
  return values.map((value) => [
    `${field} ${shownValue(value)}`,
    of('run', put(value)),
    new RegExp(message(shownValue(value)).replaceAll('.', String.raw`\.`)),
  ]);
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
