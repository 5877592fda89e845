import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { ConfigSchema } from '#agent_rl/config/config-schema.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { checks, type Finding, runChecks } from '#agent_rl/runs/signs/run-checks.ts';
import { evidenceOf, type Sketch } from './evidence.ts';

const found = (check: string, sketch: Sketch): Finding | undefined =>
  runChecks(evidenceOf({ iterations: 20, ...sketch })).find((one) => one.check === check);

test('entropy asks for no larger learning rate where steps are too large or entropy grows', () => {
  const stuck = { 'rollout/entropyEstimate': 0.5, 'rollout/successRate': 0.4 };
  const plain = found('entropy', { metrics: stuck, late: stuck });
  expect(plain?.tries?.[0]).toContain('raise train.learningRate');
  const large = { ...stuck, 'train/learningRate': 0.01, 'train/parameterNorm': 100 };
  const tooLarge = found('entropy', { metrics: large, late: stuck });
  expect(tooLarge?.tries).toEqual(['see the other findings first']);
  const late = { ...stuck, 'rollout/entropyEstimate': 1 };
  const grown = found('entropy', { metrics: stuck, late });
  expect(grown?.says).toMatch(/^entropy is rising: .* from 40\.0 % to 40\.0 %$/);
  expect(grown?.tries).toEqual(['see the other findings first']);
});

test('the parts of several agents are counted and called parts', () => {
  const paid = found('paid-for-nothing', { episodes: { unit: 'part', paidForNothing: 50 } });
  expect(paid?.says).toMatch(/^50 of 100 parts are rewarded without text or calls/);
});

test('checks have unique names and name existing settings', () => {
  const names = checks.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const folder = join(packageRoot(), 'agent_rl', 'runs', 'signs');
  const text = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  const paths = [...text.matchAll(/\.(?:now|at|number|list)\(\s*'([a-zA-Z.-]+)'/g)].map(
    ([, path = '']) => path,
  );
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !isSetting(path))).toEqual([]);
});

interface Schema {
  properties?: Readonly<Record<string, Schema>>;
}

/** Settings of a plugin, such as environment.systemPrompt, are not in the schema of run files: its `type` stands for them. */
function isSetting(path: string): boolean {
  let schema: Schema | undefined = ConfigSchema as Schema;
  for (const key of path.split('.')) {
    const below: Readonly<Record<string, Schema>> = schema?.properties ?? {};
    if (!Object.hasOwn(below, key)) return Object.hasOwn(below, 'type') || key === 'type';
    schema = below[key];
  }
  return true;
}
