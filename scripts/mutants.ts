import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../agent_rl/core/package-root.ts';
import { type Mutant, readMutants } from './mutants/read-mutants.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/*
 * Shows that the tests notice faults: each hand-made one is put into a copy of the sources, its tests are run, and
 * at least one must fail or hang. Arguments filter mutants by a part of their file or name.
 */

type Verdict = 'killed' | 'hung' | 'survived' | 'did not run';

/** A run that takes longer than this, and than many times what all the tests took, hangs because of its mutant. */
const hungAfterMs = 120_000;
const timesUnmutated = 5;

const copied = [
  'agent_rl',
  'configs',
  'dataset',
  'dist',
  'docs',
  'model',
  'scripts',
  'templates',
  'tests',
  'jest.config.js',
  'package.json',
];

/** Runs tests in the copy; a run that fails without a failing test is a mutant that does not even load. */
function judge(copy: string, tests: readonly string[], limitMs: number | undefined): Verdict {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const jest = join('node_modules', 'jest', 'bin', 'jest.js');
  const options = ['--silent', '--forceExit', '--json', `--outputFile=${report}`];
  const flags = ['--experimental-vm-modules', '--no-warnings'];
  const { error } = spawnSync(process.execPath, [...flags, jest, ...options, ...tests], {
    cwd: copy,
    stdio: 'ignore',
    timeout: limitMs,
    killSignal: 'SIGKILL',
    env: { PATH: process.env['PATH'] },
  });
  if (error !== undefined) {
    if ('code' in error && error.code === 'ETIMEDOUT') return 'hung';
    throw error;
  }
  const { numFailedTests, success } = JSON.parse(readFileSync(report, 'utf8')) as {
    numFailedTests: number;
    success: boolean;
  };
  if (success) return 'survived';
  return numFailedTests > 0 ? 'killed' : 'did not run';
}

function tryMutant(copy: string, { file, find, replace, tests }: Mutant, limitMs: number): Verdict {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  const places = source.split(find).length - 1;
  if (places !== 1)
    throw new Error(`"${find}" occurs ${places} times in ${file}; a mutant needs exactly one.`);
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  try {
    return judge(copy, tests, limitMs);
  } finally {
    writeFileSync(path, source);
  }
}

async function main(filters: readonly string[]): Promise<number> {
  const root = packageRoot();
  const mutants = readMutants(root).filter(
    ({ name, file }) =>
      filters.length === 0 || filters.some((part) => `${file} ${name}`.includes(part)),
  );
  if (mutants.length === 0) {
    // Without its tests jest would run all there are.
    console.error(
      `No mutant has ${filters.join(' or ')} in its file or name (tests/support/mutants).`,
    );
    return 2;
  }
  return inTemporaryFolder('agent_rl-mutants', async (copy) => {
    for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
    const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
    const started = performance.now();
    if (judge(copy, tests, undefined) !== 'survived') {
      console.error('The tests fail even without a mutant. Fix them first.');
      return 1;
    }
    // A busy machine slows both down.
    const unmutatedMs = performance.now() - started;
    const limitMs = Math.ceil(Math.max(hungAfterMs, timesUnmutated * unmutatedMs));
    const verdicts = mutants.map((mutant) => {
      const verdict = tryMutant(copy, mutant, limitMs);
      console.log(`${verdict.padEnd(11)} ${mutant.file}: ${mutant.name}`);
      return verdict;
    });
    const killed = verdicts.filter((verdict) => ['killed', 'hung'].includes(verdict)).length;
    console.log(`${killed} of ${mutants.length} mutants killed.`);
    return killed === mutants.length ? 0 : 1;
  });
}

process.exitCode = await main(process.argv.slice(2));
