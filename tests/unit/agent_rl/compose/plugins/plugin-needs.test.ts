import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import type { ChosenPlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import {
  isolatedSettings,
  needs,
  requireAbilities,
} from '#agent_rl/compose/plugins/plugin-needs.ts';
import type { CodeTask } from '#agent_rl/core/tasks/code-task.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';

class Plain {
  readonly plain = true;
}

const spec = { name: 'thing', description: '', parameters: Type.Object({}), taskFormat: 'any' };
const chosen = (more: object = {}) => ({
  entry: { plugin: Plain, spec: { ...spec, ...more }, source: './thing.ts' },
  settings: { unit: 'g' },
});
const usual = { policy: chosen(), tools: [chosen()] };
const run = (plugins: object): Partial<ChosenPlugins> => ({ ...usual, ...plugins });

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

const sandbox = scriptedSandbox(() => ({}));
const weak = {
  capabilities: () => ({ ...sandbox.capabilities(), unsupported: ['judge', 'sessions'] as const }),
};
const plain = { taskId: 'a task', metadata: {}, prompt: '', starterCode: '' };
const task = (tests: CodeTask['tests']): CodeTask => ({ ...plain, compare: 'exact', tests });
const byCalls = task({ kind: 'calls', entry: 'f', cases: [] });
const byStatements = task({ kind: 'asserts', code: ['assert f(1) == 2'] });

describe('A sandbox without some features', () => {
  const toolsWith = (session: boolean) => [
    { ...chosen({ name: 'code_exec', needs: ['sandbox'] }), settings: { session } },
  ];
  const tools = toolsWith(false);
  test.each([
    ['tasks judged by statements', { tasks: [byCalls, byStatements], tools }, 'task "a task"'],
    ['a tool that keeps variables', { tasks: [byCalls], tools: toolsWith(true) }, 'tool code_exec'],
  ])('is refused for %s', (_, wants, named) => {
    const says = errorOf('SANDBOX_UNAVAILABLE', named);
    expect(thrownBy(() => requireAbilities(weak, wants))).toMatchObject(says);
    expect(() => requireAbilities(sandbox, wants)).not.toThrow();
  });

  test('is accepted for what it supports', () => {
    expect(() => requireAbilities(weak, { tasks: [byCalls], tools })).not.toThrow();
  });
});
