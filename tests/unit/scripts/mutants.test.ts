import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readMutants } from '#scripts/mutants/read-mutants.ts';

const root = packageRoot();
const mutants = readMutants(root);

test('every mutant changes one place of its file', () => {
  const places = mutants.map(({ name, file, find }) => {
    const count = readFileSync(join(root, file), 'utf8').split(find).length - 1;
    return `${name}: ${count}`;
  });
  expect(places).toEqual(mutants.map(({ name }) => `${name}: 1`));
  expect(mutants.filter(({ find, replace }) => find === replace)).toEqual([]);
});

test('every mutant names existing tests', () => {
  const missing = mutants.flatMap(({ tests }) =>
    tests.filter((path) => !existsSync(join(root, path))),
  );
  expect(mutants.length).toBeGreaterThan(200);
  expect(missing).toEqual([]);
});
