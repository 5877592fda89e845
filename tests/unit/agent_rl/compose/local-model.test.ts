import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { withLocalModel } from '../../../../agent_rl/compose/local-model.ts';
import { modelFolder } from '../../../../agent_rl/compose/model-folder.ts';
import { prepareRun } from '../../../../agent_rl/compose/prepare-run.ts';

const commit = 'a'.repeat(40);
const environment = { ...process.env };
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'local-model-'));
  process.env = { ...environment, HF_HUB_CACHE: join(folder, 'hub'), HF_HUB_OFFLINE: '1' };
});

afterEach(() => {
  process.env = environment;
  rmSync(folder, { recursive: true });
});

/** A model in the hub's cache. */
function cache(name: string, revision: string): string {
  const model = join(folder, 'hub', `models--${name.replace('/', '--')}`);
  const snapshot = join(model, 'snapshots', commit);
  mkdirSync(snapshot, { recursive: true });
  mkdirSync(join(model, 'refs'));
  writeFileSync(join(model, 'refs', revision), `${commit}\n`);
  for (const file of ['config.json', 'tokenizer.json', 'tokenizer_config.json'])
    writeFileSync(join(snapshot, file), '{}');
  writeFileSync(join(snapshot, 'model.safetensors'), '');
  return snapshot;
}

async function resolved(model: Readonly<Record<string, string>>) {
  const flags = [
    { source: 'test', path: 'policy.type', value: 'huggingface' },
    ...Object.entries(model).map(([name, value]) => ({
      source: 'test',
      path: `model.${name}`,
      value,
    })),
  ];
  const prepared = await prepareRun({ file: 'configs/code_exec_grpo.yaml', flags });
  const { signal } = new AbortController();
  return (await withLocalModel({ ...prepared, signal, print: () => undefined })).loaded.config;
}

test('a model of the hub becomes its folder in the cache', async () => {
  const snapshot = cache('org/name', 'main');
  const config = await resolved({ hfModelName: 'org/name' });
  expect(config.model).toMatchObject({ hfModelName: snapshot });
  expect(modelFolder(config)).toBe(snapshot);
});

test('another branch is another folder, and is no part of the settings afterwards', async () => {
  const snapshot = cache('org/name', 'v2');
  const config = await resolved({ hfModelName: 'org/name', revision: 'v2' });
  expect(modelFolder(config)).toBe(snapshot);
  expect(config.model).not.toHaveProperty('revision');
  await expect(resolved({ hfModelName: 'org/name' })).rejects.toMatchObject({
    code: 'SOURCE_UNAVAILABLE',
    message: expect.stringContaining('org/name (main) is not whole in'),
  });
});

test('a folder is left as it is, named by path or by what looks like a model of the hub', async () => {
  const config = await resolved({ hfModelName: 'model/starter' });
  expect(config.model.hfModelName).toBe('model/starter');
  expect(modelFolder(config)).toMatch(/model\/starter$/);
  expect((await resolved({ path: folder })).model.path).toBe(folder);
});

test('a revision of a folder is refused', async () => {
  await expect(resolved({ hfModelName: 'model/starter', revision: 'v2' })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(
      /model\.revision is "v2", and "model\/starter" is no model of the hub/,
    ),
  });
});

test.each(['../main', 'a/../../b', '/main', ''])('%j is no revision', async (revision) => {
  await expect(resolved({ hfModelName: 'org/name', revision })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('model.revision'),
  });
});

test('what is neither a folder nor org/name is said to be neither', async () => {
  const config = await resolved({ hfModelName: 'gpt2' });
  expect(() => modelFolder(config)).toThrow(/No model is in "gpt2".*named as org\/name/);
});
