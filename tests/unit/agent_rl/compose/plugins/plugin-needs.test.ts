import { describe, expect, test } from '@jest/globals';
import { inject } from 'inversify';
import { Type } from 'typebox';

import type { ChosenPlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { isolatedSettings, needsSandbox } from '#agent_rl/compose/plugins/plugin-needs.ts';
import { SANDBOX } from '#agent_rl/core/services/sandbox.ts';
import { TASK } from '#agent_rl/core/tasks/task.ts';
import { SETTINGS } from '#agent_rl/core/plugins/tool.ts';
import { thrownBy } from '#tests/support/thrown.ts';

class Plain {
  readonly plain = true;
}
class Runs {
  constructor(
    @inject(SETTINGS) readonly settings: unknown,
    @inject(SANDBOX) readonly sandbox: unknown,
  ) {}
}
class RunsToo extends Runs {}
class RunsByProperty {
  @inject(SANDBOX) readonly sandbox: unknown;
}
const score = (): number => 1;

const spec = { name: 'thing', description: '', parameters: Type.Object({}), taskFormat: 'any' };
const chosen = (plugin: unknown) => ({
  entry: { plugin, spec, source: './thing.ts' },
  settings: {},
  weight: 1,
});
const needing = (plugin: unknown) => ({
  entry: { plugin, spec: { ...spec, needs: ['sandbox'] as const }, source: './thing.ts' },
  settings: {},
});
const run = (plugins: Partial<Record<keyof ChosenPlugins, unknown>>): ChosenPlugins =>
  ({
    environments: [chosen(Plain)],
    policy: chosen(Plain),
    tools: [chosen(Plain)],
    rewards: [chosen(score)],
    rewardManager: chosen(score),
    ...plugins,
  }) as ChosenPlugins;

describe('a sandbox is started', () => {
  test.each([
    ['an environment', { environments: [chosen(Plain), chosen(Runs)] }],
    ['a policy', { policy: chosen(Runs) }],
    ['a tool', { tools: [chosen(Plain), chosen(Runs)] }],
    ['a reward', { rewards: [chosen(score), chosen(Runs)] }],
    ['a reward manager', { rewardManager: chosen(Runs) }],
    ['a class that one of them extends', { rewards: [chosen(RunsToo)] }],
    ['a spec', { tools: [needing(Plain)] }],
    ['a property', { tools: [chosen(RunsByProperty)] }],
  ])('when %s asks for it', (_, plugins) => expect(needsSandbox(run(plugins))).toBe(true));

  test('for nothing else', () => expect(needsSandbox(run({}))).toBe(false));
});

describe('an isolated tool', () => {
  class Set {
    constructor(@inject(SETTINGS) readonly settings: unknown) {}
  }
  class Asks {
    constructor(
      @inject(SETTINGS) readonly settings: unknown,
      @inject(TASK) readonly task: unknown,
    ) {}
  }
  const isolated = (plugin: unknown) => ({
    entry: { plugin, spec: { ...spec, isolated: 'file:///thing.ts' }, source: './thing.ts' },
    settings: { unit: 'g' },
  });

  test('has its settings sent to its thread, and others do not', () => {
    expect(isolatedSettings([isolated(Set)])).toEqual(new Map([['thing', { unit: 'g' }]]));
    expect(isolatedSettings([chosen(Runs)])).toEqual(new Map());
  });

  test('that asks for nothing is made with an object of its settings', () => {
    const settings = isolatedSettings([isolated(Plain)]).get('thing');
    expect(settings).toEqual({ settings: { unit: 'g' } });
  });

  test('that needs a service is refused', () => {
    const { entry } = needing(Plain);
    const tool = { ...needing(Plain), entry: { ...entry, spec: { ...entry.spec, isolated: 'x' } } };
    expect(thrownBy(() => isolatedSettings([tool])).message).toContain(
      'says needs: sandbox, and the thread it runs in can only be given its settings',
    );
  });

  test('that asks for what a thread cannot be given is refused', () => {
    const { code, message } = thrownBy(() => isolatedSettings([isolated(Asks)]));
    expect(code).toBe('PLUGIN_LOAD_FAILED');
    expect(message).toContain(
      'isolated tool "thing" from ./thing.ts asks for Symbol(agent_rl.Task) at parameter 2 of its constructor',
    );
    expect(thrownBy(() => isolatedSettings([isolated(RunsByProperty)])).message).toContain(
      'Symbol(agent_rl.Sandbox) at property sandbox',
    );
  });
});
