import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A fault made by hand, and the tests that must notice it. */
export interface Mutant {
  /** What is wrong with it, in words. */
  name: string;
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
  /** Paths of the tests that must notice. */
  tests: readonly string[];
}

/** All mutants of a checkout. */
export function readMutants(root: string): Mutant[] {
  const folder = join(root, 'tests', 'support', 'mutants');
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Mutant[]);
}
