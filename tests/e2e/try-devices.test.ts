import { expect, test } from '@jest/globals';

import { tryDevices } from '#agent_rl/jobs/machine/try-devices.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const program = (name: string, text: string): string => writeBelow(folder, name, text);

test('the device check runs without the secrets of the environment', async () => {
  const seen = program(
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
  const dies = program('dies.cjs', `process.stderr.write('no adapter\\n'); process.exitCode = 3;`);
  await expect(tryDevices(dies)).rejects.toThrow('the device test ended with 3: no adapter');
});
