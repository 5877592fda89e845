import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import type { ToolSpec } from '#agent_rl/core/plugins/tool.ts';
import {
  HermesFormat,
  Llama3Format,
  PlainFormat,
  PythonBlockFormat,
} from '#agent_rl/policies/index.ts';
import { describeToolCallFormatContract } from '#tests/contracts/index.ts';
import * as fc from '#tests/support/properties.ts';

const toolOf = (name: string, parameters: ToolSpec['parameters']): ToolSpec => ({
  name,
  description: 'For tests of formats.',
  parameters,
});
const codeExec = toolOf('code_exec', Type.Object({ code: Type.String() }));
const search = toolOf('search', Type.Object({ query: Type.String() }));
const add = toolOf('add', Type.Object({ a: Type.Number(), b: Type.Number() }));

const calls = [
  { name: 'code_exec', arguments: { code: 'print("<think>}{;")\n' } },
  { name: 'add', arguments: { a: 1, b: -2.5 } },
  { name: 'add', arguments: { a: { deep: ['"', '\\', '你好', null] }, b: '\n' } },
];
const tools = [codeExec, add];

describeToolCallFormatContract('hermes', {
  plugin: HermesFormat,
  create: () => new HermesFormat(),
  tools,
  calls,
  broken: ['<tool_call>', '<tool_call>{"name": "add"}</tool_call>', '<tool_call>[1]</tool_call>'],
  marks: ['<tool_call>', '</tool_call>', '{"name": "add", "arguments": {}}', '"', '{'],
});
describeToolCallFormatContract('llama3', {
  plugin: Llama3Format,
  create: () => new Llama3Format({ settings: {} }),
  tools,
  // Thoughts are not marked off from JSON here, so a mark of one inside an argument is one.
  calls: [{ name: 'code_exec', arguments: { code: 'print("}{;")\n' } }, ...calls.slice(1)],
  broken: [
    '{"name": "add", "parameters": {"a": 1}',
    '{"name": "add", "parameters": 3}',
    '{"name": "add"}',
    '{"name": "add", "parameters": {}} I hope that helps.',
  ],
  marks: ['<|python_tag|>', '{"name": "add", "parameters": {}}', ';', '{', '}', '"'],
});
describeToolCallFormatContract('python-block', {
  plugin: PythonBlockFormat,
  create: () => new PythonBlockFormat({ settings: {} }),
  tools,
  calls: [
    { name: 'code_exec', arguments: { code: 'print("<think>")' } },
    { name: 'code_exec', arguments: { code: '' } },
    { name: 'code_exec', arguments: { code: 'if 1:\n  print(`1`)\n' } },
    { name: 'code_exec', arguments: { code: 's = """\n```\n````\n"""' } },
  ],
  broken: ['```python\nprint(1)', 'Look:\n```py\n'],
  marks: ['```python\n', '\n```', '```', '\n', 'print(1)'],
});
describeToolCallFormatContract('plain', {
  plugin: PlainFormat,
  create: () => new PlainFormat(),
  tools,
  calls: [],
  broken: [],
  marks: ['<tool_call>{"name": "add", "arguments": {}}</tool_call>', '```python\n1\n```'],
});

describe('The llama3 format', () => {
  const format = new Llama3Format({ settings: {} });
  const read = (text: string, known = tools) =>
    format.read({ text, turn: 0, inThought: false, tools: known });
  const call = { id: 'call_0_0', name: 'add', arguments: { a: 1, b: 2 } };

  test.each([
    '{"name": "add", "parameters": {"a": 1, "b": 2}}',
    '\n {"name":"add","arguments":{"a":1,"b":2}} \n',
    '{"type": "function", "name": "add", "parameters": {"a": 1, "b": 2}}',
    '{"type": "function", "function": {"name": "add", "parameters": {"a": 1, "b": 2}}}',
    '{"name": "add", "parameters": "{\\"a\\": 1, \\"b\\": 2}"}',
    '<|python_tag|>{"name": "add", "parameters": {"a": 1, "b": 2}}',
  ])('reads %j as a call', (text) => {
    expect(read(text)).toEqual({ role: 'assistant', content: '', toolCalls: [call] });
  });

  test.each(['; ', ';', '\n', ' ;\n\n'])('reads calls separated by %j', (separator) => {
    const one = format.print(call);
    expect(read([one, one].join(separator)).toolCalls).toEqual([call, { ...call, id: 'call_0_1' }]);
  });

  test.each(['{"answer": 4}', '{"name": "Ann", "age": 3}', '{', 'Use {"name": "add"}.', '[1, 2]'])(
    'treats %j as an answer',
    (text) => {
      expect(read(text)).toEqual({ role: 'assistant', content: text });
    },
  );

  test('passes code after the tag to the code tool, and keeps text before it', () => {
    expect(read('Let me see.<|python_tag|>print(1)\nprint(2)')).toEqual({
      role: 'assistant',
      content: 'Let me see.',
      toolCalls: [{ id: 'call_0_0', name: 'code_exec', arguments: { code: 'print(1)\nprint(2)' } }],
    });
  });

  test('explains why no tool can receive code', () => {
    const problem = (known: readonly ToolSpec[]) =>
      read('<|python_tag|>print(1)', [...known]).malformedCalls?.[0]?.problem;
    expect(problem([])).toMatch(/the run has no tools/);
    expect(problem([codeExec, search])).toMatch(/several tools .*code_exec.code, search.query/);
  });
});

describe('The python-block format', () => {
  const read = (text: string, settings = {}, known: readonly ToolSpec[] = tools) =>
    new PythonBlockFormat({ settings }).read({ text, turn: 1, inThought: false, tools: known });

  test('keeps the text around the blocks', () => {
    expect(read('First:\n```python\nx = 1\nprint(x)\n```\nthen\n``` py\nprint(2)\n```')).toEqual({
      role: 'assistant',
      content: 'First:\n\nthen',
      toolCalls: [
        { id: 'call_1_0', name: 'code_exec', arguments: { code: 'x = 1\nprint(x)' } },
        { id: 'call_1_1', name: 'code_exec', arguments: { code: 'print(2)' } },
      ],
    });
  });

  // The content of the block by section 4.5 of CommonMark 0.31, without its last line end.
  test.each([
    ['1. Run:\n   ```python\n   if x:\n       f()\n   ```', 'if x:\n    f()'],
    ['- ```python\n  if x:\n    f()\n  ```', 'if x:\n  f()'],
    ['- 1. ```python\n     f()\n     ```', 'f()'],
    ['1. Run:\n\t```python\n\tif x:\n\t\tf()\n\t```', 'if x:\n\tf()'],
    ['1. Run:\n   ```python\n\tf()\n   ```', ' f()'],
    ['  ```python\n f()\ng()\n  ```', 'f()\ng()'],
    ['```python\r\nf()\r\n\r\ng()\r\n```\r\nDone.', 'f()\n\ng()'],
    ['```python\rf()\r```\r', 'f()'],
    ['````python\nprint("""\n```\n""")\n````', 'print("""\n```\n""")'],
    ['```python\nf()\n`````', 'f()'],
    ['```python\nf()\n~~~\n    ```\n```', 'f()\n~~~\n    ```'],
    ['~~~python\nf()\n```\n~~~', 'f()\n```'],
    ['~~~ python `a`\nf()\n~~~', 'f()'],
    ['```python3\nf()\n```', 'f()'],
    ['```Python3.11 title="a"\nf()\n```', 'f()'],
    ['```python\n```', ''],
  ])('reads the block of %j as %j', (text, code) => {
    expect(read(text).toolCalls?.map((call) => call.arguments)).toEqual([{ code }]);
  });

  test.each(['```python `a`\nf()\n```', '``python\nf()\n``', '```pythonic\nf()\n```'])(
    'reads no block in %j',
    (text) => expect(read(text)).toEqual({ role: 'assistant', content: text }),
  );

  test.each(['```python\nf()\n``', '````python\nf()\n```', '~~~python\nf()\n```'])(
    'names the marks that close %j',
    (text) => {
      const [bad] = read(text).malformedCalls ?? [];
      const mark = /^[`~]*/.exec(text)?.[0];
      expect(bad?.problem).toBe(
        `The block is not closed: end it with ${mark} on a line of its own.`,
      );
    },
  );

  test('ignores blocks of other languages and their contents', () => {
    const text = '```json\n{}\n```\n```\n```python\n```';
    expect(read(text)).toEqual({ role: 'assistant', content: text });
  });

  test.each([
    ['no tool', [], {}, /the run has no tools/],
    ['no tool with one required text', [add], {}, /\(add\) has one required parameter, a text/],
    ['several', [codeExec, search], {}, /several tools .*code_exec.code, search.query. Set tool/],
    ['a name that is not there', [codeExec], { tool: 'run' }, /no tool of this run is named "run"/],
    ['an argument that is no text', [add], { tool: 'add', argument: 'a' }, /has a text "a"/],
  ])('cannot be used with %s', (_, known, settings, problem) => {
    expect(new PythonBlockFormat({ settings }).problemWith(known)).toMatch(problem);
  });

  test.each([
    [{ tool: 'search' }, { name: 'search', arguments: { query: '1' } }],
    [
      { tool: 'code_exec', argument: 'code' },
      { name: 'code_exec', arguments: { code: '1' } },
    ],
    [{ argument: 'query' }, { name: 'search', arguments: { query: '1' } }],
  ])('passes code to the target of the settings %j', (settings, call) => {
    const known = [codeExec, search, add];
    expect(new PythonBlockFormat({ settings }).problemWith(known)).toBeUndefined();
    expect(read('```python\n1\n```', settings, known).toolCalls).toEqual([
      { id: 'call_1_0', ...call },
    ]);
  });

  test('refuses to write calls of tools that do not take code', () => {
    const call = { name: 'add', arguments: { a: 1, b: 2 } };
    expect(() => new PythonBlockFormat({ settings: {} }).print(call, tools)).toThrow(
      /A call of add cannot be written as a block of Python: code goes to code_exec.code/,
    );
  });
});

test('the plain format writes no calls', () => {
  expect(() => new PlainFormat().print({ name: 'add', arguments: {} })).toThrow(
    /policy.toolCallFormat is plain/,
  );
});

const written = (body: string): string => `<tool_call>\n${body}\n</tool_call>`;
const hermes = new HermesFormat();
const parse = (text: string, inThought = false) => hermes.read({ text, turn: 2, inThought });

test('the Hermes format reads content and all calls in order', () => {
  const text = `Two calls.\n${written('{"name": "a", "arguments": {"x": 1}}')}\n${written('{"name": "b", "arguments": {}}')}`;
  expect(parse(text)).toEqual({
    role: 'assistant',
    content: 'Two calls.',
    toolCalls: [
      { id: 'call_2_0', name: 'a', arguments: { x: 1 } },
      { id: 'call_2_1', name: 'b', arguments: {} },
    ],
  });
});

const inner = written('{"name": "a", "arguments": {}}');

test.each([
  ['is what follows a mark that is not closed', `Well. <think>${inner}`, false, 'Well.', inner],
  ['is all that follows its cue without a closing mark', `so ${inner}`, true, '', `so ${inner}`],
])('a thought in the Hermes format %s', (_, text, inThought, ...[content, reasoning]) => {
  expect(parse(text, inThought)).toEqual({ role: 'assistant', content, reasoning });
});

test('a thought in the Hermes format is not opened by marks in an argument', () => {
  const { toolCalls, reasoning } = parse(
    written('{"name": "say", "arguments": {"text": "<think>"}}'),
  );
  expect(toolCalls?.[0]?.arguments).toEqual({ text: '<think>' });
  expect(reasoning).toBeUndefined();
});

test.each([
  ['broken JSON', written('{"name": "a", "arguments": {'), /not valid JSON/],
  ['an unterminated string', written('{"name": "a'), /not valid JSON/],
  ['an infinite number', written('{"name": "a", "arguments": {"n": 1e400}}'), /not valid JSON/],
  ['a list', written('[1]'), /not a JSON object/],
  ['no name', written('{"arguments": {}}'), /no "name"/],
  ['an empty name', written('{"name": "", "arguments": {}}'), /no "name"/],
  ['no arguments', written('{"name": "a"}'), /no "arguments"/],
  ['arguments that are a number', written('{"name": "a", "arguments": 3}'), /not a JSON object/],
  ['arguments in a text', written('{"name": "a", "arguments": "x"}'), /not a JSON object/],
  ['no closing mark', '<tool_call>\n{"name": "a", "arguments": {}}', /not closed/],
])('a malformed call names its problem: %s', (_, text, problem) => {
  const malformed = { id: 'call_2_0', text, problem: expect.stringMatching(problem) };
  expect(parse(text)).toEqual({ role: 'assistant', content: '', malformedCalls: [malformed] });
});

test('a malformed call does not hide a valid call after it', () => {
  const good = written('{"name": "b", "arguments": {}}');
  for (const bad of ['<tool_call>\n{"name": ', written('{"name": "x'), '<tool_call>']) {
    const message = parse(`${bad}\n${good}`);
    expect(message.toolCalls).toEqual([{ id: 'call_2_1', name: 'b', arguments: {} }]);
    expect(message.malformedCalls).toHaveLength(1);
  }
});

test('arguments in a JSON string are parsed again', () => {
  const { toolCalls } = parse(written('{"name": "a", "arguments": "{\\"x\\": 1}"}'));
  expect(toolCalls?.[0]?.arguments).toEqual({ x: 1 });
});

test('written calls are read back equal', () => {
  const marks = ['</tool_call>', '<tool_call>', '<think>', '</think>', '\n', '"', '\\'];
  const text = fc
    .array(fc.oneof(fc.constantFrom(...marks), fc.string({ unit: 'grapheme' })))
    .map((parts) => parts.join(''));
  const value = fc.oneof(text, fc.jsonValue());
  const several = fc.array(
    fc.record({ name: text.filter((name) => name !== ''), arguments: fc.dictionary(text, value) }),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(several, (printed) => {
      // Through JSON, which knows no -0.
      const expected: unknown = JSON.parse(JSON.stringify(printed));
      const message = parse(printed.map((one) => hermes.print(one)).join('\n'));
      const read = message.toolCalls?.map(({ name, arguments: given }) => ({
        name,
        arguments: given,
      }));
      expect(JSON.parse(JSON.stringify(read))).toEqual(expected);
      expect(message.malformedCalls).toBeUndefined();
    }),
  );
});
