import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';

import { expect, test } from '@jest/globals';

import { withPeerPython } from '#scripts/bench/peers.ts';

const needs = { modules: ['torch'], packages: ['torch'] };
const environments = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('agent-rl-peers-'));

test('the given Python is taken where it imports what is needed', async () => {
  const before = environments();
  expect(await withPeerPython('true', needs, async (python) => python)).toBe('true');
  expect(environments()).toEqual(before);
});

test('otherwise an environment is made in a temporary folder, which is gone when that fails', async () => {
  const before = environments();
  const made = withPeerPython('false', needs, async (python) => python);
  await expect(made).rejects.toThrow(/^false -m venv \S*agent-rl-peers-\w+ ended with 1\.$/);
  expect(environments()).toEqual(before);
});

test('a Python that does not exist is named', async () => {
  const made = withPeerPython('no-such-python', needs, async (python) => python);
  await expect(made).rejects.toThrow(/no-such-python/);
});
