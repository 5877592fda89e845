import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { tryDevices } from '#agent_rl/jobs/machine/try-devices.ts';
import { type Ended, nodeProgram } from '../support/built-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * How a program leaves: its reader leaves first, as `head` does, its command never ends or leaves something running.
 */

const folder = temporaryFolder();
const built = join(packageRoot(), 'dist', 'agent_rl', 'cli', 'run-program.js');

const probe = (does: string): string =>
  writeBelow(
    folder,
    'probe.mjs',
    `
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '${pathToFileURL(built).href}';
await runProgram('probe', { name: 'probe', describe: 'A command.', examples: [], options: {}, positionals: {}, async run(_, { io }) { ${does} } });
`,
  );

/** Runs Node on a file while one of its streams has no reader; what it wrote on the other. */
async function unread(stream: 'stdout' | 'stderr', args: readonly string[]) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child[stream].destroy();
  let wrote = '';
  child[stream === 'stdout' ? 'stderr' : 'stdout'].on('data', (chunk) => (wrote += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, wrote };
}

const prints = "for (let i = 0; i < 20; i++) { io.stdout.write('a line\\n'); await sleep(5); }";

describe('A command whose stdout is closed by its reader', () => {
  test('exits as usual and without a message when it only prints', async () => {
    expect(await unread('stdout', [probe(`${prints} return 2;`)])).toEqual({ code: 2, wrote: '' });
  });

  test('continues its work and reports once that its output is lost', async () => {
    const works = `${prints} await sleep(1500); ${prints} io.stderr.write('Worked.\\n'); return 0;`;
    expect(await unread('stdout', [probe(works)])).toEqual({
      code: 0,
      wrote: 'stdout was closed; further output to it is lost.\nWorked.\n',
    });
  });

  test('continues when a plugin prints directly', async () => {
    const logs = prints.replace('io.stdout.write', 'console.log');
    expect(await unread('stdout', [probe(`${logs} return 0;`)])).toEqual({ code: 0, wrote: '' });
  });
});

test('a command continues after the reader of its stderr has closed it', async () => {
  const logs = prints.replace('stdout', 'stderr');
  const program = probe(`${logs} io.stdout.write('Done.\\n'); return 0;`);
  expect(await unread('stderr', [program])).toEqual({ code: 0, wrote: 'Done.\n' });
});

test('agent-rl plugins | head -1 exits without an error', async () => {
  const program = join(packageRoot(), 'dist', 'scripts', 'agent-rl.js');
  expect(await unread('stdout', [program, 'plugins'])).toEqual({ code: 0, wrote: '' });
});

const programThat = (does: string): Ended => nodeProgram([probe(does)], folder);

test('a command that waits for something that never happens fails and says what to do', () => {
  const { code, stdout, stderr } = programThat('await new Promise(() => {});');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^UNEXPECTED: The job waits for .*a plugin.* a timeout .*\n$/);
});

test('work that a command leaves running has time to end', () => {
  expect(programThat("setTimeout(() => console.log('Ended.'), 100); return 0;")).toEqual({
    code: 0,
    stdout: 'Ended.\n',
    stderr: '',
  });
});

test('work that a command leaves running for longer neither blocks the program nor changes its exit code', () => {
  const { code, stdout, stderr } = programThat(
    "setTimeout(() => console.log('Ended.'), 20_000); return 2;",
  );
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^A timer, socket or process, .* is still active\. Exiting anyway\.\n$/);
});

test('work that a command leaves running makes it fail when it throws', () => {
  const { code, stderr } = programThat(
    "setTimeout(() => { throw new Error('too late'); }, 100); return 0;",
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(/^UNEXPECTED: An error was thrown .*: too late \(.*\)\.\n$/);
});

test('the device check runs without the secrets of the environment', async () => {
  const seen = writeBelow(
    folder,
    'seen.cjs',
    `process.send([process.env.SOME_API_KEY ?? 'none', process.env.SOME_PLACE]); process.disconnect();`,
  );
  Object.assign(process.env, { SOME_API_KEY: 'canary', SOME_PLACE: 'here' });
  try {
    expect(await tryDevices(seen)).toEqual(['none', 'here']);
  } finally {
    delete process.env['SOME_API_KEY'];
    delete process.env['SOME_PLACE'];
  }
});

test('a driver that ends the process is reported with its output', async () => {
  const dies = writeBelow(
    folder,
    'dies.cjs',
    `process.stderr.write('no adapter\\n'); process.exitCode = 3;`,
  );
  await expect(tryDevices(dies)).rejects.toThrow('the device test ended with 3: no adapter');
});
