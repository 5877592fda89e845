import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { localLayers, localModel, modelFolder, withLocalModel } from '#model/find/model-folder.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import type { ErrorCode } from '#agent_rl/core/errors.ts';
import { saveTinyAdapter } from '#tests/support/tiny-adapter.ts';
import { freshFolder, temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, expectRejection } from '#tests/support/thrown.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const commit = 'a'.repeat(40);
const environment = { ...process.env };
const all = temporaryFolder();
let folder = '';

beforeEach(() => {
  folder = freshFolder(all);
  process.env = { ...environment, HF_HUB_CACHE: join(folder, 'hub'), HF_HUB_OFFLINE: '1' };
});

afterEach(() => {
  process.env = environment;
});

/** A model in the hub's cache. */
function cache(name: string, revision: string): string {
  const model = join(folder, 'hub', `models--${name.replace('/', '--')}`);
  writeBelow(model, `refs/${revision}`, `${commit}\n`);
  const files = 'config.json tokenizer.json tokenizer_config.json model.safetensors'.split(' ');
  for (const file of files) writeBelow(model, `snapshots/${commit}/${file}`, '{}');
  return join(model, 'snapshots', commit);
}

async function resolved(model: Readonly<Record<string, string>>, policy = 'huggingface') {
  const flag = (path: string, value: string) => ({ source: 'test', path, value });
  const flags = [flag('policy.type', policy)].concat(
    Object.entries(model).map(([name, value]) => flag(`model.${name}`, value)),
  );
  const loaded = loadConfig({ file: 'configs/code_exec_grpo.yaml', flags });
  const { signal } = new AbortController();
  return (await withLocalModel({ loaded, signal, print: () => undefined })).loaded.config;
}

test.each(['main', 'v2'])('a model of the hub becomes a folder: %s', async (revision) => {
  const snapshot = cache('org/name', revision);
  const config = await resolved({ path: 'org/name', revision });
  expect(config.model).toMatchObject({ path: snapshot });
  expect(config.model).not.toHaveProperty('revision');
  expect(modelFolder(config)).toBe(snapshot);
});

test('a folder stays as it is named, also by a name like a model of the hub', async () => {
  const config = await resolved({ path: 'model/starter' });
  expect(config.model.path).toBe('model/starter');
  expect(modelFolder(config)).toMatch(/model\/starter$/);
  expect((await resolved({ path: folder })).model.path).toBe(folder);
});

test('a branch that is not in the cache is unavailable', async () => {
  cache('org/name', 'v2');
  const problem = errorOf('SOURCE_UNAVAILABLE', 'org/name (main) is incomplete in');
  await expect(resolved({ path: 'org/name' })).rejects.toMatchObject(problem);
});

test.each([
  [
    'model/starter',
    'v2',
    'model.revision is "v2", but the run does not load "model/starter" from the hub',
  ],
  ['org/name', '../main', 'model.revision'],
  ['org/name', 'a/../../b', 'model.revision'],
  ['org/name', '/main', 'model.revision'],
  ['org/name', '', 'model.revision'],
])('a run refuses %s at revision %j', async (path, revision, problem) => {
  await expectRejection(resolved({ path, revision }), 'CONFIG_INVALID', problem);
});

test('a name that is no model is refused with what it may be', async () => {
  cache('org/name', 'main');
  const named = async (path: string, policy: string) => {
    const config = await resolved({ path }, policy);
    return () => modelFolder(config);
  };
  const both = /"gpt2" holds no model.*of the hub as org\/name/;
  expect(await named('gpt2', 'huggingface')).toThrow(both);
  // The policy minimind takes no model of the hub.
  const other = /"org\/name" holds no model.*policy\.type to huggingface/;
  expect(await named('org/name', 'minimind')).toThrow(other);
  const several = /^"model" holds no model: .* Models in this folder: (.*, )?model\/starter,/;
  expect(() => modelFolder({ model: { path: 'model' } })).toThrow(several);
  const path = join(tmpdir(), 'nowhere', 'model');
  const only = `"${path}" holds no model: there is no config.json and no adapter_config.json in ${path}.`;
  expect(() => modelFolder({ model: { path } })).toThrow(only);
});

const named = (name: string, revision?: string) =>
  localModel({ name, revision, signal: new AbortController().signal, print: () => undefined });

describe('A command', () => {
  test('takes a model of the hub, a folder, or a model that the package ships', async () => {
    const [main, v2] = [cache('org/name', 'main'), cache('org/other', 'v2')];
    expect(await named('org/name')).toBe(main);
    expect(await named('org/other', 'v2')).toBe(v2);
    expect(await named(main)).toBe(main);
    expect(await named('model/starter')).toMatch(/model\/starter$/);
  });

  test.each<[string, string | undefined, ErrorCode, RegExp]>([
    ['org/none', undefined, 'SOURCE_UNAVAILABLE', /The folder .*org\/none does not exist either/],
    ['org/none', '../v1', 'CONFIG_INVALID', /"..\/v1" is not a revision of org\/none/],
    ['model/starter', 'v1', 'CONFIG_INVALID', /--revision is "v1", but "model\/starter" is not/],
    ['nowhere', undefined, 'MODEL_INVALID', /or a model of the hub as org\/name/],
  ])('refuses %s at revision %s', async (name, revision, code, message) => {
    await expect(named(name, revision)).rejects.toMatchObject(errorOf(code, message));
  });
});

describe('An adapter on a model of the hub', () => {
  const adapter = async (baseModel: string, revision?: string): Promise<string> => {
    const to = join(folder, 'adapter');
    await saveTinyAdapter(to, tinyModelConfig, { baseModel });
    const json = JSON.parse(readFileSync(join(to, 'adapter_config.json'), 'utf8')) as object;
    writeBelow(to, 'adapter_config.json', JSON.stringify({ ...json, revision: revision ?? null }));
    return to;
  };

  test('finds its model in the cache of the hub or the package, for commands and runs', async () => {
    const base = cache('org/name', 'main');
    const own = await adapter('org/name');
    expect(await named(own)).toBe(own);
    expect(await localLayers({ folder: own })).toEqual({ base, adapters: [own] });
    expect(modelFolder(await resolved({ path: own }))).toBe(own);
    await expect(localLayers({ folder: own, adapters: [own] })).rejects.toThrow('is listed twice');
    const shipped = await adapter('model/starter');
    expect((await localLayers({ folder: shipped })).base).toMatch(/model\/starter$/);
  });

  test('finds the revision that it names', async () => {
    const base = cache('org/name', 'v2');
    const own = await adapter('org/name', 'v2');
    expect((await localLayers({ folder: own })).base).toBe(base);
    const other = await adapter('org/name');
    await expect(localLayers({ folder: other })).rejects.toMatchObject({ code: 'MODEL_INVALID' });
  });

  test('is refused by commands and runs if the hub cannot be asked', async () => {
    const own = await adapter('org/none');
    const refused = errorOf('SOURCE_UNAVAILABLE', 'org/none');
    await expect(named(own)).rejects.toMatchObject(refused);
    await expect(resolved({ path: own })).rejects.toMatchObject(refused);
  });
});
