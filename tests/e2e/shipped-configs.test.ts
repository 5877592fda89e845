import { readdirSync, readFileSync } from 'node:fs';
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

test('the folder has configs to check', () => {
  expect(names).toContain('code_exec_grpo.yaml');
  expect(names).toContain(join('recipes', 'smollm2_calculator_grpo.yaml'));
});

describe.each(names)('%s', (name) => {
  const file = join(shipped, name);
  // Whole, so that what it extends is checked too and misspelling cannot fall back on the extended file.
  const whole = parseDocument(resolvedYaml(loadConfig({ file }).config));
  // Names of columns belong to the data and are checked when rows are read.
  const keys = keysOf(whole.contents, '').filter(({ path }) => !/\.columns\./.test(path));

  test('names known plugins with valid settings', () => {
    expect(() => check(file)).not.toThrow();
  });

  test('begins with a comment', () => {
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(/^# /);
  });

  test.each(keys)(
    'refuses $path when it is misspelt, and says what was meant',
    ({ path, scalar }) => {
      const key = String(scalar.value);
      const wrong = misspelt(key);
      scalar.value = wrong;
      const mutated = writeBelow(folder, `${name}-${path}.yaml`, String(whole));
      scalar.value = key;
      const { message } = thrownBy(() => check(mutated));
      // Where it is the key that chooses the plugin, nothing is known of the rest of the block.
      const unknown = `${path.slice(0, -key.length)}${wrong}: is not a known key. Did you mean "${key}"?`;
      const missing = `${path}: is missing.`;
      expect([unknown, missing].filter((text) => message.includes(text))).not.toEqual([]);
      expect(message).toContain(`Did you mean "${key}"`);
    },
  );
});
