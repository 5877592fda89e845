import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { packageRoot } from '../agent_rl/core/package-root.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import {
  differences,
  hashesOf,
  type RunHashes,
  shownHashes,
  type Yardstick,
  yardstickMachine,
} from './yardstick/hashes.ts';
import { type YardstickJob, yardstickJobs } from './yardstick/jobs.ts';

/*
 * Trains every run file of configs/ for two iterations, and prints hashes of what it sampled, scored and learned:
 *
 *   npm run yardstick                    compare with tests/fixtures/yardstick.json; exits with 1 where they differ
 *   npm run yardstick -- search mixed    these jobs alone
 *   npm run yardstick -- --write         replace the fixture's hashes of these jobs with today's
 *
 * The medquad job takes its pages from AGENT_RL_MEDQUAD, a checkout of MedQuAD, and is skipped without one. Recipes need models
 * and servers that do not ship: tests/e2e trains two iterations of each with small ones.
 */

const fixture = join(packageRoot(), 'tests', 'fixtures', 'yardstick.json');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});

function run(command: readonly string[], cwd: string): void {
  const [program = '', ...args] = command;
  const file = join(packageRoot(), 'dist', 'scripts', `${program}.js`);
  const { status, stderr } = spawnSync(process.execPath, [file, ...args], {
    cwd,
    encoding: 'utf8',
  });
  // Two iterations promise nothing: held-out success may fall, which is exit code 1 of a run that has ended.
  if (status !== 0 && !(status === 1 && ended(cwd))) {
    throw new Error(`${command.join(' ')} ended with ${status}:\n${stderr}`);
  }
}

function ended(cwd: string): boolean {
  const runs = join(cwd, 'runs');
  return (
    existsSync(runs) &&
    readdirSync(runs).some((name) => existsSync(join(runs, name, 'summary.json')))
  );
}

async function measure({ name, prepare, commands }: YardstickJob, cwd: string): Promise<RunHashes> {
  mkdirSync(cwd);
  await prepare?.(cwd);
  for (const command of commands) run(command, cwd);
  return hashesOf(join(cwd, 'runs', `${name}-seed1`));
}

const unknown = positionals.filter((name) => !yardstickJobs.some((job) => job.name === name));
if (unknown.length > 0) {
  const names = yardstickJobs.map(({ name }) => name).join(', ');
  throw new TypeError(`Unknown job: ${unknown.join(', ')}. Known: ${names}.`);
}
const before = JSON.parse(readFileSync(fixture, 'utf8')) as Yardstick;
const now: Yardstick = { machine: yardstickMachine(), jobs: {} };
process.stdout.write(`${now.machine}\n`);
await inTemporaryFolder('yardstick', async (folder) => {
  for (const job of yardstickJobs) {
    if (positionals.length > 0 && !positionals.includes(job.name)) continue;
    if (job.missing !== undefined) {
      process.stdout.write(`${job.name}: skipped, ${job.missing}\n`);
      continue;
    }
    const hashes = await measure(job, join(folder, job.name));
    now.jobs[job.name] = hashes;
    process.stdout.write(`${job.name}: ${shownHashes(hashes)}\n`);
  }
});
if (values.write) {
  const jobs = { ...before.jobs, ...now.jobs };
  writeFileSync(fixture, `${JSON.stringify({ machine: now.machine, jobs }, null, 2)}\n`);
} else {
  const found = differences(before, now);
  process.stdout.write(found.length > 0 ? found.join('') : 'The same as the fixture.\n');
  process.exitCode = found.length > 0 ? 1 : 0;
}
