import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { isMap, isScalar, isSeq, parseDocument, type Scalar } from 'yaml';

import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { choosePlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { checkConfig, loadConfig, resolvedYaml } from '#agent_rl/config/index.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { thrownBy } from '../support/thrown.ts';

const shipped = join(packageRoot(), 'configs');
const names = readdirSync(shipped, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.yaml'),
);
const folder = temporaryFolder();

const plugins = builtinPlugins();
/** What a run does before it starts: read the file, then check the plugins' own blocks. */
const check = (file: string) => {
  const { loaded, problems } = checkConfig({ file });
  return choosePlugins(loaded, plugins, problems);
};

interface Key {
  path: string;
  scalar: Scalar;
}

function keysOf(node: unknown, path: string): Key[] {
  if (isSeq(node)) return node.items.flatMap((item, index) => keysOf(item, `${path}.${index}`));
  if (!isMap(node)) return [];
  return node.items.flatMap(({ key, value }) => {
    if (!isScalar(key)) return [];
    const here = path === '' ? String(key.value) : `${path}.${String(key.value)}`;
    return [{ path: here, scalar: key }, ...keysOf(value, here)];
  });
}

/** Two neighbouring letters swapped: the commonest slip. */
const misspelt = (key: string): string => {
  const at = Array.from(key).findIndex((letter, index) => index > 0 && letter !== key[index - 1]);
  return key.slice(0, at - 1) + (key[at] ?? '') + (key[at - 1] ?? '') + key.slice(at + 1);
};

/** Every path of a key in the configs, with the first config that has it. */
const firstWith = new Map<string, string>();

describe.each(names)('%s', (name) => {
  const file = join(shipped, name);
  // The whole config, so that the file that it extends is checked too and cannot hide a misspelt key.
  const whole = parseDocument(resolvedYaml(loadConfig({ file }).config));
  // Names of columns belong to the data and are checked when rows are read; policies have any name.
  const keys = keysOf(whole.contents, '').filter(
    ({ path }) => !/\.columns\.|^policies\.\w+$/.test(path) && !firstWith.has(path),
  );
  for (const { path } of keys) firstWith.set(path, name);

  test('names known plugins with valid settings', () => {
    expect(() => check(file)).not.toThrow();
  });

  test('is refused for each misspelt key that no earlier config has, with the key that was meant', () => {
    const misunderstood = keys.filter(({ path, scalar }) => {
      const key = String(scalar.value);
      const wrong = misspelt(key);
      scalar.value = wrong;
      const mutated = writeBelow(folder, `${name}-${path}.yaml`, String(whole));
      scalar.value = key;
      const { message } = thrownBy(() => check(mutated));
      // A misspelt key that chooses a plugin leaves the rest of its block unknown.
      const unknown = `${path.slice(0, -key.length)}${wrong}: is not a known key. Did you mean "${key}"?`;
      const misspelling = `a misspelling of "${key}"?`;
      const missing = message.includes(`${path}: is missing.`) && message.includes(misspelling);
      return !(message.includes(unknown) || missing);
    });
    expect(misunderstood.map(({ path }) => path)).toEqual([]);
  });
});
