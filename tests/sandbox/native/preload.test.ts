import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { NativeSandbox } from '#agent_rl/sandbox/native/native-sandbox.ts';
import { offersLevel } from '#tests/support/python.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf } from '#tests/support/thrown.ts';
import { unhurried } from '#tests/support/sandbox-limits.ts';

const folder = temporaryFolder();
const level = offersLevel('ns') ? 'ns' : 'lite';
const native = offersLevel(level) ? describe : describe.skip;

/** A Python environment with these modules. */
function pythonWith(modules: Readonly<Record<string, string>>): string {
  const environment = join(folder, 'environment');
  execFileSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', environment]);
  const python = join(environment, 'bin', 'python3');
  const where = 'import sysconfig; print(sysconfig.get_path("purelib"))';
  const packages = execFileSync(python, ['-c', where], { encoding: 'utf8' }).trim();
  for (const [name, text] of Object.entries(modules)) writeBelow(packages, `${name}.py`, text);
  return python;
}

native('A preloaded module', () => {
  test('can be imported, with numerical libraries limited to one thread', async () => {
    const answers = 'import os\nVALUE = 42, os.environ["OPENBLAS_NUM_THREADS"]';
    const python = pythonWith({ answers });
    const sandbox = unhurried(await NativeSandbox.start({ level, python, preload: ['answers'] }));
    try {
      const code = 'import answers, os\nprint(answers.VALUE, os.environ["OMP_NUM_THREADS"])';
      const ran = await sandbox.execute({ kind: 'run', code });
      expect(ran).toMatchObject({ status: 'ok', stdout: "(42, '1') 1\n" });
    } finally {
      await sandbox.close();
    }
  });

  test('is refused by name if it starts threads', async () => {
    const python = pythonWith({
      busy: 'import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()',
    });
    const started = NativeSandbox.start({ level, python, preload: ['busy'] });
    const why = 'with busy imported there are 2 threads';
    await expect(started).rejects.toMatchObject(errorOf('SANDBOX_UNAVAILABLE', why));
  });
});
