import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import type { ChosenPlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { isolatedSettings, needs } from '#agent_rl/compose/plugins/plugin-needs.ts';
import { thrownBy } from '#tests/support/thrown.ts';

class Plain {
  readonly plain = true;
}

const spec = { name: 'thing', description: '', parameters: Type.Object({}), taskFormat: 'any' };
const chosen = (more: object = {}) => ({
  entry: { plugin: Plain, spec: { ...spec, ...more }, source: './thing.ts' },
  settings: { unit: 'g' },
});
const run = (plugins: object): Partial<ChosenPlugins> => ({
  policy: chosen(),
  tools: [chosen()],
  ...plugins,
});

describe('A service', () => {
  const needing = chosen({ needs: ['sandbox'] });
  test.each([
    ['an environment', { environments: [chosen(), needing] }],
    ['a policy', { policy: needing }],
    ['a tool', { tools: [chosen(), needing] }],
    ['a reward', { rewards: [chosen(), needing] }],
    ['a reward manager', { rewardManager: needing }],
  ])('is opened if the spec of %s needs it', (_, plugins) => {
    expect(needs(run(plugins), 'sandbox')).toBe(true);
    expect(needs(run(plugins), 'format')).toBe(false);
  });

  test('is not opened for other plugins', () => {
    expect(needs(run({ toolCallFormat: undefined }), 'sandbox')).toBe(false);
    expect(needs(run({ taskGenerators: [undefined] }), 'sandbox')).toBe(false);
  });
});

describe('An isolated tool', () => {
  const isolated = { isolated: 'file:///thing.ts' };

  test('has its settings sent to its thread, unlike other tools', () => {
    expect(isolatedSettings([chosen(isolated)])).toEqual(new Map([['thing', { unit: 'g' }]]));
    expect(isolatedSettings([chosen()])).toEqual(new Map());
  });

  test('is refused if it needs a service', () => {
    const tool = chosen({ ...isolated, needs: ['sandbox'] });
    const { code, message } = thrownBy(() => isolatedSettings([tool]));
    expect(code).toBe('PLUGIN_LOAD_FAILED');
    expect(message).toContain('isolated tool "thing" from ./thing.ts');
  });
});
