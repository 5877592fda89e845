import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';

import { expect, test } from '@jest/globals';

import { withPeerPython } from '#scripts/bench/peer-python.ts';

const needs = { modules: ['torch'], packages: ['torch'] };

test('takes the given Python where it imports what is needed', async () => {
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  const used = await withPeerPython({ ...needs, python: 'true', note }, async (python) => python);
  expect(used).toBe('true');
  expect(notes).toEqual([]);
});

test('makes an environment elsewhere where it does not, and takes it away when that fails', async () => {
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  const made = withPeerPython({ ...needs, python: 'false', note }, async (python) => python);
  await expect(made).rejects.toThrow(/^false -m venv .* ended with 1\.$/);
  const folder = /agent-rl-peers-\w+$/.exec(notes.join())![0];
  expect(readdirSync(tmpdir())).not.toContain(folder);
});

test('says so where there is no such program', async () => {
  const made = withPeerPython(
    { ...needs, python: 'no-such-python', note: () => undefined },
    async (python) => python,
  );
  await expect(made).rejects.toThrow(/no-such-python/);
});
