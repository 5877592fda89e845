import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import {
  EnvironmentRegistry,
  PolicyRegistry,
  ToolRegistry,
} from '#agent_rl/compose/plugins/registries.ts';
import { Registry } from '#agent_rl/core/plugins/plugin.ts';
import { environments } from '#agent_rl/core/plugins/environment.ts';
import { policies } from '#agent_rl/core/plugins/policy.ts';
import { rewards } from '#agent_rl/core/plugins/reward.ts';
import { tools } from '#agent_rl/core/plugins/tool.ts';
import { thrownBy } from '#tests/support/thrown.ts';

class Echo {
  call() {
    return Promise.resolve({ content: '' });
  }
}
const good = { name: 'echo', description: 'Says it again.', parameters: Type.Object({}) };

/** What registering a tool with these fields and this class throws. */
function refusedTool(fields: object, plugin: new () => unknown = class extends Echo {}) {
  tools.mark({ ...good, ...fields })(plugin);
  return thrownBy(() => new ToolRegistry([{ plugin, source: './echo.ts' }]));
}

describe('The registry of tools', () => {
  test.each([
    [{ parameters: undefined }, 'parameters: got nothing'],
    [{ parameters: { type: 'array' } }, 'parameters: got {"type":"array"}'],
    [{ parameters: { type: 'object', properties: { a: { type: 'strng' } } } }, 'not a usable JSON'],
    [{ parameters: { type: 'object', default: 1n } }, 'parameters: is not a usable JSON Schema'],
    [{ parameters: Type.Object({ 'a"}}\n': Type.String() }) }, 'a parameter named "a\\"}}\\n"'],
    [{ name: 'echo it' }, 'name: got "echo it"; allowed: a name such as word_count'],
    [{ name: 'echo\n' }, 'name: got "echo\\n"'],
    [{ name: '{{x}}' }, 'name: got "{{x}}"'],
    [{ description: undefined }, 'description: got nothing'],
    [{ maxContentChars: 0.5 }, 'maxContentChars: got 0.5'],
    [{ deadline: 3 }, 'deadline: unknown field'],
  ])('refuses a tool with %p', (fields: object, problem) => {
    const { code, message } = refusedTool(fields);
    expect(code).toBe('PLUGIN_LOAD_FAILED');
    expect(message).toMatch(/^The tool \w+ from \.\/echo\.ts cannot be used:\n/);
    expect(message).toContain(problem);
  });

  test('refuses a tool without a call method, with all other problems', () => {
    class Mute {
      mute = true;
    }
    const { message } = refusedTool({ name: 'Mute' }, Mute);
    expect(message).toMatch(/^The tool Mute from/);
    expect(message).toContain('name: got "Mute"');
    expect(message).toContain('\n  call: ');
  });
});

test('a tool that inherits call and has every field is registered', () => {
  class Whole extends Echo {}
  tools.mark({ ...good, deadlineS: 0.5, maxContentChars: 10, isolated: import.meta.url })(Whole);
  const registry = new ToolRegistry([{ plugin: Whole, source: './echo.ts' }]);
  expect(registry.with([]).names()).toEqual(['echo']);
});

describe('A registry of another kind', () => {
  const description = 'For tests.';
  class Bare {
    readonly bare = true;
  }
  const bare = [{ plugin: Bare, source: './bare.ts' }];
  environments.mark({ name: 'bare', description, settings: Type.Object({}), taskFormat: 'plain' })(
    Bare,
  );
  policies.mark({ name: 'bare', description })(Bare);
  rewards.mark({ name: 'bare', description })(Bare);

  test.each([
    ['environment', () => new EnvironmentRegistry(bare), ['start', 'step', 'finish']],
    ['policy', () => new PolicyRegistry(bare), ['begin', 'act', 'observe', 'release']],
    ['reward', () => new Registry(rewards, bare), ['score']],
  ])('refuses a class without its methods: %s', (kind, register, methods) => {
    const { code, message } = thrownBy(register);
    expect(code).toBe('PLUGIN_LOAD_FAILED');
    expect(message).toMatch(new RegExp(`^The ${kind} Bare from \\./bare\\.ts cannot be used:\n`));
    expect(methods.filter((name) => !message.includes(`\n  ${name}: `))).toEqual([]);
  });

  test('refuses an external environment without its own methods', () => {
    class Outside {
      run = undefined;
    }
    const spec = { name: 'outside', description, settings: Type.Object({}), taskFormat: 'plain' };
    environments.mark({ ...spec, external: true })(Outside);
    const methods = environments.problemsOf(Outside).map((problem) => problem.split(':')[0]);
    expect(methods).toEqual(['run', 'isModelError', 'finish']);
  });

  test('refuses a constructor with several parameters', () => {
    class Two {
      constructor(
        readonly task: unknown,
        readonly settings: unknown,
      ) {}
      score = undefined;
    }
    Object.assign(Two.prototype, { score: () => 1 });
    rewards.mark({ name: 'two', description })(Two);
    const problem = expect.stringMatching(/^constructor: got 2 parameters/);
    expect(rewards.problemsOf(Two)).toEqual([problem]);
  });
});
