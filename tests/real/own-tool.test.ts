import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { builtProgram } from '../support/built-program.ts';
import { packPackage, shell } from '../support/package/installed-project.ts';
import { promisedJobs, successOfNewestRun } from '../support/promised-jobs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// docs/tutorials/own-tool.md as a stranger does it: the packed package, a project outside the checkout, npm from its
// registry. Some ten minutes: `npm run test:real -- own-tool`.

const folder = temporaryFolder();
const project = join(folder, 'my-agent');

test('a new project learns to use its own tool', () => {
  const { tarball } = packPackage(folder);
  const made = builtProgram('agent-rl', ['new', 'my-agent', '--agent-rl', tarball], folder);
  expect(made).toMatchObject({ code: 0 });
  const { commands, least } = promisedJobs().find(({ name }) => name === 'own-tool')!;
  for (const command of commands) if (command.startsWith('npm ')) shell(command, project);
  const success = successOfNewestRun(project);
  process.stderr.write(`own-tool: ${(100 * success).toFixed(1)} %, promised ${100 * least!} %\n`);
  expect(success).toBeGreaterThanOrEqual(least!);
});
