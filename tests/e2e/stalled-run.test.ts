import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

test('a tool that loops for ever ends the run with a reason, and does not hang it', () => {
  // It blocks the main thread for ever: from another thread the process can still be ended.
  const log = join(folder, 'run.log');
  const watch = join(packageRoot(), 'dist/agent_rl/threads/stall-watch.js');
  const entered = join(packageRoot(), 'dist/agent_rl/core/plugins/entered-plugin.js');
  const script = writeBelow(
    folder,
    'stall.mjs',
    `import { StallWatch } from ${JSON.stringify(watch)};
import { enterPlugin } from ${JSON.stringify(entered)};
StallWatch.start({ limitS: 1, log: ${JSON.stringify(log)} });
await new Promise((resolve) => setTimeout(resolve, 2500));
console.log('alive after 2.5 s');
enterPlugin('tool "endless"');
for (;;);`,
  );
  const { signal, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect(stdout).toContain('alive after 2.5 s');
  expect(signal).toBe('SIGKILL');
  const reason =
    'The main thread has been blocked for 1 s (rollout.deadlines.stallS), so the run is ended. The last plugin called was tool "endless".';
  expect(stderr).toContain(reason);
  expect(readFileSync(log, 'utf8')).toContain(`error ${reason}`);
});
