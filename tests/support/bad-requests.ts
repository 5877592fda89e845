import { inspect } from 'node:util';

type BadRequest = [title: string, request: never, message: RegExp];

const code = 'def f(*a): return list(a)';
const run = (more: object) => ({ kind: 'run', code, ...more });
const calls = (more: object) => ({ kind: 'calls', code, entry: 'f', args: [[1]], ...more });
const judge = (tests: object) => ({ kind: 'judge', code, tests: { statements: [], ...tests } });

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
  ['a BigInt behind an unknown tag', () => ({ $foo: 1n }), /holds a value that cannot/],
  ['undefined', () => undefined, /^args\[1\]\[1\] holds undefined; allowed are null, booleans/],
  ['a hole', () => Array.from({ length: 2 }).fill(1, 0, 1), /holds undefined/],
  ['nan', () => NaN, /^args\[1\]\[1\] holds NaN; write \{"\$float": "nan"\}$/],
  ['infinity', () => [-Infinity], /holds -Infinity; write \{"\$float": "-inf"\}$/],
  ['a function', () => () => 1, /holds a function; allowed are/],
  ['a symbol', () => Symbol('x'), /holds a symbol; allowed are/],
  ['an object of a class', () => ({ a: new Map() }), /holds an object of a class; allowed are/],
  ['a date', () => new Date(0), /holds an object of a class/],
  ['a list that holds itself', cyclic, /is nested more than 100 deep, or contains itself$/],
  ['lists that share their members', shared, /is nested|longer than \d+ characters/],
  ['101 lists in one another', () => deep(101), /is nested more than 100 deep/],
  ['2,000 lists in one another', () => deep(2000), /is nested more than 100 deep/],
  ['50,000 lists in one another', () => deep(50_000), /is nested more than 100 deep/],
  ['an unknown tag', () => ({ $foo: 1 }), /"\$foo" is not a tag; tags are \$int/],
  ['invalid digits', () => ({ $int: 'x' }), /"x"\} is not a Python value|digits are needed/],
  ['pairs that are invalid', () => ({ $dict: [1] }), /is not a Python value/],
  ['base64 that is not valid', () => ({ $bytes: 'A' }), /has bytes that are not valid base64$/],
  ['an integer that JSON rounds', () => 1e30, /integers beyond 2\^53 are written/],
  [
    'a list in a set',
    () => ({ $set: [{ $tuple: [[1]] }] }),
    /holds a list in a set or as a dictionary key/,
  ],
  [
    'a dictionary as a key',
    () => ({ $dict: [[{}, 1]] }),
    /holds a dict in a set or as a dictionary key/,
  ],
];

/** Rows with one message: the values of a field of a request. */
const each = (
  of: (more: object) => unknown,
  [name, ...values]: readonly [string, ...unknown[]],
  message: RegExp,
) => values.map((value): [unknown, RegExp] => [of({ [name]: value }), message]);
const limits = (more: object) => run({ limits: more });
const files = (more: object) => run({ files: more });

const paths: readonly [string, RegExp][] = [
  ['/etc/passwd', /must be relative/],
  ['../up', /leads out/],
  ['a/../../up', /leads out/],
  ['a\0b', /NUL/],
  ...['', 'a//b', 'a/', './a'].map((path): [string, RegExp] => [path, /empty part/]),
  ['a\ud800', /surrogate/],
  ['é'.repeat(128), /more than 255 bytes/],
  ['a/'.repeat(1000) + 'a', /has more than 1024 bytes$/],
];

/** Requests that cannot be run, and what the message is. */
const refused: readonly [unknown, RegExp][] = [
  [undefined, /^the request must be an object, got undefined$/],
  [null, /^the request must be an object, got null$/],
  [5, /^the request must be an object, got 5$/],
  [{ code }, /^kind is undefined; it must be one of run, calls, judge$/],
  [{ kind: 'toString', code }, /^kind is "toString"; it must be/],
  [run({ stding: '' }), /unknown field "stding"; the known fields are .* owner, limits, seed$/],
  [run({ owner: 5 }), /^owner must be a string, got 5$/],
  ...each(run, ['seed', 'abc', NaN, null, 1.5, 2 ** 60, {}], /^seed is .*; it must be an integer/),
  ...each(run, ['limits', null, [], 'x'], /^limits must be an object, got (?:null|a list|"x")$/),
  ...each(
    limits,
    ['wallS', '5', null, undefined, NaN, 0, 1e-9, 0.0099, 3601, Infinity],
    /^limits\.wallS is .*; it must be a number from 0\.01 to 3600 s$/,
  ),
  ...each(limits, ['memoryMiB', '128', null, 63, 1e9], /^limits\.memoryMiB is .* 64 to 1024 MiB$/),
  [{ ...judge({}), limits: { wallMs: 5 } }, /^limits has .* "wallMs"; the known .* are wallS, mem/],
  ...each(run, ['code', undefined, null, 42, ['print(1)']], /^code must be a string, got /),
  [calls({ code: undefined }), /^code must be a string, got undefined$/],
  [{ ...judge({}), code: null }, /^code must be a string, got null$/],
  [run({ code: 'x = 1\n'.repeat(350_000) }), /^code has 2100000 characters, at most 1048576/],
  ...each(run, ['stdin', null, 42], /^stdin must be a string, got /),
  [run({ stdin: 'x'.repeat(17 << 20) }), /^stdin has 17825792 characters/],
  ...each(run, ['files', null, []], /^files must be an object of .* path, got (?:null|a list)$/),
  ...paths.map(([path, message]): [unknown, RegExp] => [files({ [path]: 'eA==' }), message]),
  [files({ 'a/b': '', a: '' }), /^the path "a" in files is a file and the folder of "a\/b"/],
  [files({ a: '', 'a/b/c': '' }), /^the path "a" in files is a file and/],
  ...each(files, ['a', 'x', 'ab=c', 'ab c', 'ab_-', 42], /^the content of "a" .* is not base64/),
  [files({ a: 5 }), /is not base64, got 5$/],
  ...each(calls, ['entry', undefined, 42], /^entry must be a string, got /),
  ...each(calls, ['args', undefined, 'x', [1]], /^args must be a list of lists of arguments, got /),
  [calls({ args: [[1], 2] }), /^args must be a list of lists of arguments, got 2 at 1$/],
  [calls({ args: [['x'.repeat(17 << 20)]] }), /^args\[0\]\[0\] .* longer than 16777216 characters/],
  [{ kind: 'judge', code, tests: null }, /^tests must be an object, got null$/],
  [judge({ stetup: '' }), /^tests has the unknown field "stetup"/],
  ...each(judge, ['statements', undefined, 'assert 1'], /^tests\.statements must be/),
  [
    judge({ statements: ['1', 1] }),
    /^tests.statements must be a list of strings, got 1 at index 1$/,
  ],
  [judge({ classes: 5 }), /^tests.classes must be a list of strings, got 5$/],
  [judge({ names: 'f' }), /^tests\.names must be a list of strings/],
  [judge({ setup: 1 }), /^tests\.setup must be a string, got 1$/],
  [judge({ entry: [] }), /^tests\.entry must be a string, got a list$/],
  [judge({ statements: ['x'.repeat(5 << 20)] }), /^tests as JSON has \d+ characters/],
];

export const badRequests = refused.map(([request, message]): BadRequest => [
  inspect(request, { breakLength: Infinity, maxStringLength: 40 }),
  request as never,
  message,
]);
