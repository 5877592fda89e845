import { describe, expect, test } from '@jest/globals';

import { commandLine } from '#tests/support/command-line.ts';
import { mazeRun } from '#tests/support/maze-run.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const config = mazeRun(folder);

describe('agent-rl plugins', () => {
  test('shows a table of the settings of a plugin', async () => {
    const { code, stdout } = await commandLine(['plugins', 'code_exec']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Tool code_exec \(built in\)\nRun a Python program/);
    expect(stdout).toMatch(/\n {2}sessionS +number +Total seconds/);
    expect(stdout).toMatch(/Arguments of a call\n {2}Name[^]*\n {2}code +string +required /);
    expect(stdout).toContain('\nEnvironment code_exec (built in)\n');
    const one = await commandLine(['plugins', 'mrr', '--json']);
    expect(JSON.parse(one.stdout)).toEqual([
      expect.objectContaining({
        kind: 'reward',
        name: 'mrr',
        settings: expect.anything() as unknown,
      }),
    ]);
    const wrong = await commandLine(['plugins', 'code_exce']);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringMatching(/no plugin is named "code_exce"\. Did you mean code_exec\?/),
    ]);
  });

  test.each([
    ['atack', 'plugins attack'],
    ['algoritms', 'plugins algorithms'],
  ])('suggests a command for the name %s, which no plugin has', async (name, meant) => {
    const { code, stderr } = await commandLine(['plugins', name]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Did you mean ${meant}?`)]);
  });

  test('lists the built-in plugins and the plugins that are named', async () => {
    const args = ['plugins', '--plugin', `${folder}/world.mjs`];
    const { stdout } = await commandLine(args);
    expect(stdout).toContain(`  maze       A plugin. (${folder}/world.mjs)`);
    const known = JSON.parse((await commandLine([...args, '--json'])).stdout) as { name: string }[];
    expect(known.map(({ name }) => name)).toEqual(expect.arrayContaining(['minimind', 'maze']));
  });

  test('lists before it refuses a wrong setting', async () => {
    const args = ['plugins', '--config', config, '--set', 'environment.each=x'];
    const { code, stdout, stderr } = await commandLine(args);
    expect([code, stdout]).toEqual([2, expect.stringContaining('  maze  ')]);
    expect(stderr).toMatch(/CONFIG_INVALID: [^]*environment\.each/);
    const other = await commandLine(['plugins', '--set', 'run.seed=1']);
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringMatching(/run\.seed=1 .*--config/),
    ]);
  });
});
