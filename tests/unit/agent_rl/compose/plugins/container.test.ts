import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import type { Scoring } from '#agent_rl/compose/episode-maker.ts';
import { construct, episodeContainer, runContainer } from '#agent_rl/compose/plugins/container.ts';
import { AgentRlError } from '#agent_rl/core/errors.ts';
import type { Needed } from '#agent_rl/core/plugins/given.ts';
import type { EpisodeView } from '#agent_rl/core/plugins/reward.ts';
import type { RewardManager } from '#agent_rl/core/plugins/reward-manager.ts';
import { policies } from '#agent_rl/core/plugins/policy.ts';
import type { Task } from '#agent_rl/core/tasks/task.ts';
import { ScriptedGenerator } from '#tests/support/scripted-generator.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const taskOf = (taskId: string): Task => ({ taskId, prompt: 'Add.', metadata: {} });
const sandbox = scriptedSandbox(() => ({}));
const generator = new ScriptedGenerator(() => []);
const run = runContainer({ sandbox, generator });
const episodeOf = (taskId: string) => episodeContainer(run, { task: taskOf(taskId) });

interface Parts {
  task: Task;
  settings: unknown;
  sandbox: unknown;
  shared: unknown;
}

class World {
  readonly parts: Parts;
  constructor({ task, settings, sandbox: runs, shared }: Parts) {
    this.parts = { task, settings, sandbox: runs, shared };
  }
}

interface Making {
  settings?: unknown;
  shared?: unknown;
  needs?: readonly Needed[];
}

const making = (plugin: unknown, { settings = {}, shared, needs = [] }: Making = {}) => ({
  entry: { plugin, spec: { name: 'thing', needs } },
  settings,
  shared,
});
const needs = ['sandbox'] as const;
const world = (container = episodeOf('a'), settings: unknown = {}) =>
  construct<World>(container, making(World, { settings, shared: 'index', needs }));

test('an error of a plugin for the user keeps its own message', () => {
  class Particular {
    readonly made = true;
    constructor({ settings }: { settings: unknown }) {
      throw new AgentRlError('TOKENIZER_INVALID', `No template for ${String(settings)}.`);
    }
  }
  const error = thrownBy(() => construct(run, making(Particular, { settings: 'tests' })));
  expect(error).toMatchObject({ code: 'TOKENIZER_INVALID', message: 'No template for tests.' });
});

describe('A plugin', () => {
  test('receives task, settings, sandbox and shared as one object', () => {
    class SmallWorld extends World {}
    for (const plugin of [World, SmallWorld]) {
      const wanted = { settings: { by: 1 }, shared: 'index', needs };
      const made = construct<World>(episodeOf('a'), making(plugin, wanted));
      const task = taskOf('a');
      expect(made.parts).toEqual({ task, settings: { by: 1 }, sandbox, shared: 'index' });
      expect(made.parts.sandbox).toBe(sandbox);
    }
  });

  test('receives an object that can be copied', () => {
    class Copies {
      readonly copy: object;
      constructor({ task, ...rest }: { task: Task; settings: unknown }) {
        this.copy = { ...rest, id: task.taskId };
      }
    }
    const { copy } = construct<Copies>(episodeOf('a'), making(Copies, { settings: { by: 1 } }));
    expect(copy).toEqual({ settings: { by: 1 }, id: 'a' });
  });

  const missing = ['sandbox', 'format', 'model', 'shared', 'setings', 'prompt', 'constructor'];
  test.each(missing)('fails with its name and place when it reads a missing %s', (key) => {
    class Asks {
      readonly value: unknown;
      constructor(given: Record<string, unknown>) {
        this.value = given[key];
      }
    }
    const { code, message } = thrownBy(() => construct(episodeOf('a'), making(Asks)));
    expect(code).toBe('PLUGIN_LOAD_FAILED');
    expect(message).toMatch(new RegExp(`^Plugin "thing" .*container\\.test\\.ts.*uses ${key}, `));
  });

  test('has no task outside an episode', () => {
    expect(thrownBy(() => world(run)).message).toMatch(/^Plugin "thing" .*uses task, /);
  });

  test('receives the generator without declaring it, if it is a policy', () => {
    class Says {
      readonly generator: unknown;
      constructor(given: { generator: unknown }) {
        this.generator = given.generator;
      }
    }
    policies.mark({ name: 'thing', description: 'Says nothing.', settings: Type.Object({}) })(Says);
    expect(construct<Says>(run, making(Says)).generator).toBe(generator);
  });
});

const episode = { turns: [1, 2] } as unknown as EpisodeView;
const scorer = (plugin: unknown, settings: unknown) =>
  construct<Scoring>(run, making(plugin, { settings }), 'score');

test.each([
  [
    'a function of the episode and its settings',
    ({ turns }: EpisodeView, { perTurn }: { perTurn: number }) => -perTurn * turns.length,
  ],
  [
    'a class with a score method',
    class PerTurn {
      constructor(private readonly given: { settings: { perTurn: number } }) {}
      score({ turns }: EpisodeView) {
        return -this.given.settings.perTurn * turns.length;
      }
    },
  ],
])('a reward may be %s', (_, plugin) => {
  expect(scorer(plugin, { perTurn: 2 }).score(episode)).toBe(-4);
});

test.each([
  [
    'a class, which receives its settings',
    class Constant {
      constructor(private readonly given: { settings: { value: number } }) {}
      assign() {
        return [this.given.settings.value];
      }
    },
    () => [3],
  ],
  [
    'a function of the group, its settings and the signal',
    (...given: unknown[]) => given,
    (...given: unknown[]) => [given[0], { value: 3 }, given[1]],
  ],
])('a reward manager may be %s', async (_, plugin, expected) => {
  const group = { task: { taskId: 't', prompt: '', metadata: {} }, terms: [], episodes: [] };
  const { signal } = new AbortController();
  const made = making(plugin, { settings: { value: 3 } });
  const manager = construct<RewardManager>(run, made, 'assign');
  expect(await manager.assign(group, signal)).toEqual(expected(group, signal));
});
