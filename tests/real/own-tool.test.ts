import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { builtProgram } from '#tests/support/built-program.ts';
import { packPackage } from '#tests/support/package/installed-project.ts';
import { promisedJobs, successOfNewestRun } from '#tests/support/promised-jobs.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

/*
 * docs/tutorials/own-tool.md as a stranger does it: the packed package, a project outside the checkout, npm from its
 * registry. Some ten minutes: `npm run test:real -- own-tool`.
 */

const folder = temporaryFolder();
const project = join(folder, 'my-agent');
const timeout = 3_600_000;

test(
  'a new project learns to use its own tool',
  () => {
    const { tarball } = packPackage(folder);
    const made = builtProgram('agent-rl', ['new', 'my-agent', '--agent-rl', tarball], folder);
    expect(made).toMatchObject({ code: 0 });
    const { commands, least } = promisedJobs().find(({ name }) => name === 'own-tool')!;
    for (const command of commands.filter((one) => one.startsWith('npm '))) {
      // npm tells what it starts about the package it was started in: here this one, not the project.
      const env = Object.fromEntries(
        Object.entries(process.env).filter(
          ([name]) => !/^(?:npm_|NODE_ENV$|INIT_CWD$|JEST)/.test(name),
        ),
      );
      const { status, stdout, stderr } = spawnSync(command, {
        cwd: project,
        env,
        encoding: 'utf8',
        shell: true,
        timeout,
      });
      if (status !== 0) throw new Error(`${command} ended with ${status}:\n${stdout}${stderr}`);
    }
    const success = successOfNewestRun(project);
    process.stderr.write(`own-tool: ${(100 * success).toFixed(1)} %, promised ${100 * least!} %\n`);
    expect(success).toBeGreaterThanOrEqual(least!);
  },
  timeout,
);
