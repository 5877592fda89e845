import { posix } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { linesOf } from '#agent_rl/cli/command.ts';
import { commands } from '#agent_rl/cli/commands.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { projectFile } from '#tests/support/source-files.ts';

const all = linesOf(commands);

describe.each(all)('the help of %s', (name, { examples, options }) => {
  test('shows examples whose flags exist', async () => {
    expect(examples.length).toBeGreaterThan(0);
    const flags = examples.flatMap(([line]) => line.match(/(?<=^|\s)--[a-z-]+/g) ?? []);
    expect(flags.filter((flag) => !(flag.slice(2) in options))).toEqual([]);
    const { stdout, code } = await commandLine([...name.split(' '), '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: agent-rl ${name}\\b`));
    // Each example stands on lines of its own, whole.
    for (const [line, meaning] of examples)
      expect(stdout.replaceAll(/ \\\n +/g, ' ')).toContain(
        `\n  ${meaning}\n    agent-rl ${name} ${line}`.trimEnd(),
      );
  });

  test('shows numbers as numbers', () => {
    const numeric =
      /seed|threads|workers|tokens$|^batch|top-|min-p|temperature|rank|alpha|size|iterations|^samples$|^port$/;
    const others = Object.entries(options).filter(
      ([flag, { type, array }]) => numeric.test(flag) && array !== true && type !== 'number',
    );
    expect(others.map(([flag]) => flag)).toEqual([]);
  });
});

/** What a file needs before it can run: neither types nor what is imported when it is needed. */
const loadedAtOnce = (path: string): string[] =>
  [...projectFile(path).matchAll(/^(?:import|export) (?!type )[^;']*from '([^']+)';/gm)]
    .map(([, target = '']) => target)
    .map((target) => (target.startsWith('.') ? posix.join(posix.dirname(path), target) : target));

test('--help loads yargs and no other package', () => {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const target of loadedAtOnce(path)) {
      if (target.startsWith('node:')) continue;
      if (target.endsWith('.ts')) visit(target);
      else packages.add(target);
    }
  };
  visit('scripts/agent-rl.ts');
  expect([...packages]).toEqual(['yargs']);
  expect(seen.size).toBeLessThan(70);
});

describe('A terminal of 60 columns', () => {
  const program = [
    '[sampled]',
    '  x = 1    # the first    comment of a program, beyond 60 columns',
    '  y = 2    # the second   comment',
  ].join('\n');
  const job = async ({ print }: { print: (text: string) => void }) => (print(program), {});

  test('shows the text of an episode as it was written', async () => {
    const jobs = { showRun: job };
    const { stdout } = await commandLine(['runs', 'show', 'run'], { jobs, columns: 60 });
    expect(stdout).toBe(`${program}\n`);
  });

  test('gets a table that is too wide as a list', async () => {
    const jobs = { compareRuns: job };
    const { stdout } = await commandLine(['runs', 'compare', 'a', 'b'], { jobs, columns: 60 });
    expect(stdout).toContain('  x = 1\n  y = 2\n    # the first');
  });
});
