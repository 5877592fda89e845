import { parseSync } from '@swc/core';
import { describe, expect, test } from '@jest/globals';

import { sourceFiles, type SourceFile } from '../support/source-files.ts';

/** Calls that take as many arguments as they are given, each of which lies on the stack. */
const takesMany = new Set(
  'push unshift splice Math.max Math.min String.fromCharCode String.fromCodePoint'.split(' '),
);

/** What these hold is as long as a run file, a model's settings or a screen. */
const bounded = ['agent_rl/cli', 'agent_rl/compose', 'agent_rl/config', 'model/config', 'scripts'];

interface Node {
  type?: string;
  value?: unknown;
  callee?: Node;
  object?: Node;
  property?: Node;
  arguments?: readonly { spread?: unknown }[];
}

/** `push` for `list.push(…)` of any list, `Math.max` for that of a global. */
function nameOf({ object, property }: Node): string {
  const method = String(property?.value);
  const owner = String(object?.value);
  return ['Math', 'String'].includes(owner) ? `${owner}.${method}` : method;
}

/** Every call in a tree that spreads a list over the arguments of one that takes many. */
function spreadingCalls(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(spreadingCalls);
  if (typeof node !== 'object' || node === null) return [];
  const { type, callee, arguments: given = [] } = node as Node;
  const inside = Object.values(node).flatMap(spreadingCalls);
  if (type !== 'CallExpression' || callee?.type !== 'MemberExpression') return inside;
  const name = nameOf(callee);
  const spreads = given.some(({ spread }) => spread !== null && spread !== undefined);
  return spreads && takesMany.has(name) ? [name, ...inside] : inside;
}

const found = ({ path, text }: SourceFile): string[] =>
  spreadingCalls(parseSync(text, { syntax: 'typescript', decorators: true }).body).map(
    (name) => `${path} ${name}`,
  );

describe('A list that grows with the data', () => {
  test('is never spread into the arguments of a call, which fails at some 120,000 items', () => {
    const files = sourceFiles(['agent_rl', 'dataset', 'model', 'scripts']).filter(
      ({ path }) => !bounded.some((folder) => path.startsWith(`${folder}/`)),
    );
    expect(files.length).toBeGreaterThan(300);
    expect(files.flatMap(found)).toEqual([]);
  });

  test.each([
    ['this.#tokens.push(...tokens);', 'push'],
    ['const most = Math.max(\n  0,\n  ...rows.map(({ length }) => length),\n);', 'Math.max'],
    ['list.splice(0, list.length, ...kept);', 'splice'],
  ])('is reported where it is spread: %s', (text, name) => {
    expect(found({ path: 'a.ts', text })).toEqual([`a.ts ${name}`]);
  });

  test('may be spread into lists, objects and other calls', () => {
    const text = 'a.push({ ...b }, [...c]); f(...d); Math.max(1, [...e].length); g.map(h(...i));';
    expect(found({ path: 'a.ts', text })).toEqual([]);
  });
});
