import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');
const fixture = join(packageRoot(), 'tests', 'fixtures', 'acme-arithmetic');

// Far from this repository: nothing here is found but by the framework's own help.
beforeAll(() => {
  cpSync(fixture, join(project, 'node_modules', '@acme', 'arithmetic'), { recursive: true });
  for (const name of ['run.yaml', 'local-reward.ts', 'tasks']) {
    cpSync(join(fixture, name), join(project, name), { recursive: true });
  }
});

const list = (...args: string[]) => agentRl(['plugins', '--json', ...args], project);

interface Listed {
  kind: string;
  name: string;
  source: string;
}

const names = (stdout: string) =>
  (JSON.parse(stdout) as Listed[])
    .filter(({ source }) => source !== 'built in')
    .map(({ kind, name, source }) => `${kind} ${name} from ${source}`);

describe('a project of its own', () => {
  test('brings a package and a file, both in TypeScript, by YAML alone', async () => {
    const { code, stdout, stderr } = await list('--config', 'run.yaml');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(names(stdout)).toEqual([
      'tool add from @acme/arithmetic',
      'environment sums from @acme/arithmetic',
      `reward politeness from ${join(project, 'local-reward.ts')}`,
      'reward promptness from @acme/arithmetic',
      'tool-call format shell from @acme/arithmetic',
    ]);
  });

  test('brings a file by --plugin', async () => {
    const { stdout } = await list('--plugin', './local-reward.ts');
    expect(names(stdout)).toEqual([`reward politeness from ${join(project, 'local-reward.ts')}`]);
  });

  test('is given the framework that runs it, not a copy', async () => {
    const running = pathToFileURL(join(packageRoot(), 'dist', 'agent_rl', 'index.js')).href;
    const { stdout } = await list('--plugin', './local-reward.ts');
    expect(stdout).toContain(`with ${running}.`);
  });

  test('sees an error for a package that is not installed', async () => {
    const { code, stderr } = await list('--plugin', '@acme/nothing');
    expect(code).toBe(2);
    expect(stderr).toMatch(/PLUGIN_LOAD_FAILED: Plugin @acme\/nothing .*Install the package/s);
    expect(stderr).not.toContain('    at ');
  });

  test('sees where a file of its own has a mistake', async () => {
    writeBelow(project, 'broken.ts', 'export const a = ;\n');
    const { code, stderr } = await list('--plugin', './broken.ts');
    expect(code).toBe(2);
    expect(stderr).toMatch(/broken\.ts:1:17: ERROR: Unexpected ";"/);
  });
});

test('its isolated tool runs in TypeScript in a thread, is ended when it loops, and fails with its line', () => {
  const dist = pathToFileURL(join(packageRoot(), 'dist', 'agent_rl')).href;
  const files = ['halve-tool.ts', 'call-halve.mjs'];
  for (const name of files) cpSync(join(fixture, name), join(project, name));
  const args = [join(project, 'call-halve.mjs'), dist];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect(stderr).toBe('');
  const { results, failures } = JSON.parse(stdout) as Record<string, unknown[]>;
  expect(results).toEqual([
    ['ok', '21'],
    ['timeout', 'Error: halve was stopped after 1 s without an answer.'],
  ]);
  // The line of the TypeScript, not of what it is compiled to, there and in the main thread.
  const failure = expect.stringMatching(
    /^Tool "halve" failed \(.*halve-tool\.ts:19:\d+\): below 0$/,
  );
  expect(failures).toEqual([failure, failure]);
});
