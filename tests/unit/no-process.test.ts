import { spawn, spawnSync } from 'node:child_process';

import { expect, test } from '@jest/globals';

test('a unit test that starts a process fails', () => {
  expect(() => spawnSync('true')).toThrow('A unit test starts a process (true).');
  expect(() => spawn('true')).toThrow('A unit test starts a process (true).');
});
