import { describe, expect, test } from '@jest/globals';

import { kindNames, kindOf, placeText } from '#agent_rl/compose/plugins/kinds.ts';
import { sourceFiles } from '../support/source-files.ts';

/** Files that name a kind of plugin, without its own plugins and the pages that explain other systems' settings. */
const naming = (name: RegExp, own: RegExp): string[] =>
  sourceFiles(['agent_rl', 'dataset', 'model', 'scripts'])
    .filter(({ path, text }) => name.test(text) && !own.test(path))
    .map(({ path }) => path)
    .filter((path) => path !== 'agent_rl/config/earlier-systems.ts');

describe('A kind of plugin', () => {
  test('is named in at most 8 files', () => {
    const files = naming(/rewardManager|RewardManager/, /^agent_rl\/rewards\//);
    expect(files).toContain('agent_rl/compose/plugins/kinds.ts');
    expect(files.length).toBeLessThanOrEqual(8);
  });

  test.each([
    ['tools', 'tools: [{type: NAME}]'],
    ['environments', 'environment: {type: NAME}'],
    ['toolCallFormats', 'policy: {toolCallFormat: NAME}'],
    ['advantages', 'algorithm: {advantage: {type: NAME}}'],
    ['taskGenerators', 'datasets: [{generator: {type: NAME}}]'],
  ] as const)('has a place in the run file: %s in %s', (name, place) => {
    expect(placeText(kindOf(name))).toBe(place);
  });

  test('has a unique name, key and place', () => {
    const rows = kindNames.map(kindOf);
    for (const values of [
      rows.map(({ kind }) => kind.kind),
      rows.map(({ chosen }) => chosen),
      rows.map(({ at }) => at),
      rows.map(({ title }) => title),
    ])
      expect(new Set(values).size).toBe(rows.length);
  });
});
