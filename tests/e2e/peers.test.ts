import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';

import { expect, test } from '@jest/globals';

import { withPeerPython } from '#scripts/bench/peers.ts';

const needs = { modules: ['torch'], packages: ['torch'] };
const environments = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('agent-rl-peers-'));

test('the given Python is used when it has the required packages', async () => {
  const before = environments();
  expect(await withPeerPython('true', needs, async (python) => python)).toBe('true');
  expect(environments()).toEqual(before);
});

test('an environment is created in a temporary folder otherwise, which is removed on failure', async () => {
  const before = environments();
  const made = withPeerPython('false', needs, async (python) => python);
  await expect(made).rejects.toThrow(/^false -m venv \S*agent-rl-peers-\w+ ended with 1\.$/);
  expect(environments()).toEqual(before);
});
