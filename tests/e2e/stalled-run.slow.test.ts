import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { StallWatch } from '#agent_rl/threads/stall-watch.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

test('a tool that loops forever ends the run with a reason', () => {
  // It blocks the main thread forever: from another thread the process can still be ended.
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
    'The main thread has been blocked for 1 s (rollout.deadlines.stallS), so the run stops. The last plugin called was tool "endless".';
  expect(stderr).toContain(reason);
  expect(readFileSync(log, 'utf8')).toContain(`error ${reason}`);
});

test('a training in code fails with a reason when its program blocks the main thread, and the program continues', async () => {
  const training = trainAgent({
    config: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    overrides: {
      'run.engineThreads': 1,
      'run.outputDir': folder,
      'rollout.deadlines.stallS': 1,
      'eval.before': false,
      'eval.after': false,
    },
  });
  // One that ends meanwhile does not end the watch over the other.
  await StallWatch.start({ limitS: 600 })!.close();
  const thrown = rejectionOf(training);
  await expect(
    (async () => {
      for await (const { type } of training)
        if (type === 'iteration')
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000);
    })(),
  ).rejects.toMatchObject({ code: 'PROCESS_BLOCKED' });
  const { code, message } = await thrown;
  expect(code).toBe('PROCESS_BLOCKED');
  expect(message).toMatch(
    /blocked for 1 s \(rollout\.deadlines\.stallS\), so the run stops\. The last plugin called was /,
  );
  const run = join(folder, 'code_exec_smoke-seed42');
  expect(readFileSync(join(run, 'run.log'), 'utf8')).toContain(`error ${message}`);
  expect(readdirSync(join(run, 'checkpoints'))).toContain('step-1');
});
