import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '../../../agent_rl/core/package-root.ts';

interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
}

const root = packageRoot();
const folder = join(root, 'tests', 'support', 'mutants');

describe.each(readdirSync(folder))('the mutants of %s', (list) => {
  const mutants = JSON.parse(readFileSync(join(folder, list), 'utf8')) as Mutant[];

  test('change one place of their files each', () => {
    const places = mutants.map(({ name, file, find }) => {
      const count = readFileSync(join(root, file), 'utf8').split(find).length - 1;
      return `${name}: ${count}`;
    });
    expect(places).toEqual(mutants.map(({ name }) => `${name}: 1`));
    expect(mutants.filter(({ find, replace }) => find === replace)).toEqual([]);
  });

  test('name tests that are there', () => {
    const missing = mutants.flatMap(({ tests }) =>
      tests.filter((path) => !existsSync(join(root, path))),
    );
    expect(missing).toEqual([]);
  });
});
