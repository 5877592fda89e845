import { symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { loadConfig } from '#agent_rl/config/index.ts';
import { readYaml } from '#agent_rl/config/yaml/read-yaml.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const messageOf = (file: string): string => {
  const { code, message } = thrownBy(() => loadConfig({ file: join(folder, file) }));
  expect(code).toBe('CONFIG_INVALID');
  return message;
};
const problemsOf = (text: string) => readYaml(text, 'run.yaml').problems;

test('aliases that copy one another out into millions of values are refused with the place', () => {
  const nine = (name: string): string => Array.from({ length: 9 }, () => name).join(', ');
  const lines = Array.from({ length: 12 }, (_, i) =>
    i === 0 ? `a0: &a0 [${nine('x')}]` : `a${i}: &a${i} [${nine(`*a${i - 1}`)}]`,
  );
  const started = performance.now();
  const [problem, ...others] = problemsOf(lines.join('\n'));
  expect(others).toEqual([]);
  expect(problem).toMatchObject({ location: { source: 'run.yaml', line: expect.any(Number) } });
  expect(problem?.text).toContain('more than 50000 values');
  // All of them would be 9^12 values; the limit leaves milliseconds.
  expect(performance.now() - started).toBeLessThan(10_000);
});

const circles = ['a: &a [1, *a]', 'a: &a [{b: [*a]}]', 'a: &a {b: *a}'];
test.each(circles)('a list or block that contains itself is refused: %s', (text) => {
  const problem = { location: { line: 1 }, text: 'the alias *a contains itself.' };
  expect(problemsOf(text)).toMatchObject([problem]);
});

const before = (i: number): string => (i === 0 ? '' : `*a${i - 1}`);
test.each([
  ['lists', `a: ${'['.repeat(100)}${']'.repeat(100)}`],
  ['more lists than the parser can hold', `a: ${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ['lists that never end', '['.repeat(20_000)],
  ['blocks', Array.from({ length: 100 }, (_, i) => `${' '.repeat(i)}k:`).join('\n')],
  ['aliases', Array.from({ length: 100 }, (_, i) => `a${i}: &a${i} [${before(i)}]`).join('\n')],
])('endless nesting is refused: %s', (_, text) => {
  expect(problemsOf(text)[0]?.text).toContain('at most 64');
});

test('nesting that would overflow the stack is refused where it gets too deep', () => {
  // A block, and 255 lists in it.
  const location = { line: 2, column: 4 + 255 };
  const text = expect.stringContaining('nested too deeply');
  expect(problemsOf(`a: 1\nb: ${'['.repeat(100_000)}`)).toMatchObject([{ location, text }]);
});

test('a value of a tag such as !!binary is refused', () => {
  const text = expect.stringContaining('tag:yaml.org,2002:binary');
  const location = { line: 1, column: 17 };
  expect(problemsOf('a: [1, !!binary "AAAA"]')).toMatchObject([{ location, text }]);
});

test('a device, a folder and a file of gigabytes are refused, and nothing hangs', () => {
  truncateSync(writeBelow(folder, 'huge.yaml', ''), 5e9);
  const of = (name: string) => {
    writeBelow(folder, 'top.yaml', `extends: ${name}\n`);
    return messageOf('top.yaml');
  };
  expect(of('/dev/zero')).toMatch(
    /top\.yaml:1:10 extends: cannot read .*zero: it is a pipe or a device, not a file/,
  );
  expect(of('.')).toContain('it is a folder, not a file');
  expect(of('huge.yaml')).toContain('it has 5000000000 bytes');
});

test('files that extend each other through a link to their own folder are a circle', () => {
  symlinkSync(folder, join(folder, 'here'));
  writeBelow(folder, 'loop.yaml', 'extends: here/loop.yaml\n');
  expect(messageOf('loop.yaml')).toMatch(/in a circle: .*loop\.yaml -> .*loop\.yaml/);
});

test('the number of files that a run file extends is limited', () => {
  for (let i = 0; i < 30; i++) {
    const next = Array.from({ length: 9 }, () => `fan-${i + 1}.yaml`).join(', ');
    writeBelow(folder, `fan-${i}.yaml`, `extends: [${next}]\n`);
  }
  writeBelow(folder, 'fan-30.yaml', 'run: {seed: 1}\n');
  expect(messageOf('fan-0.yaml')).toContain('more than 64 files');
});
