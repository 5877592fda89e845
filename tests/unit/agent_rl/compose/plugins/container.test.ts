import { describe, expect, test } from '@jest/globals';
import { inject } from 'inversify';

import {
  construct,
  episodeContainer,
  openRewardManager,
  rewardFunction,
  runContainer,
} from '#agent_rl/compose/plugins/container.ts';
import { constructorProblem } from '#agent_rl/compose/plugins/injections.ts';
import { AgentRlError } from '#agent_rl/core/errors.ts';
import type { EpisodeView } from '#agent_rl/core/plugins/reward.ts';
import { SANDBOX } from '#agent_rl/core/services/sandbox.ts';
import { TASK, type Task } from '#agent_rl/core/tasks/task.ts';
import { SETTINGS } from '#agent_rl/core/plugins/tool.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const taskOf = (taskId: string): Task => ({ taskId, prompt: 'Add.', metadata: {} });
const service = { run: 'stand-in' };
const run = runContainer([[SANDBOX, service]]);

class World {
  constructor(
    @inject(TASK) readonly task: Task,
    @inject(SETTINGS) readonly settings: unknown,
    @inject(SANDBOX) readonly sandbox: unknown,
  ) {}
}

const world = (name: string, settings: unknown) => ({ name, plugin: World, settings });

class Particular {
  constructor(@inject(SETTINGS) readonly settings: unknown) {
    throw new AgentRlError('TOKENIZER_INVALID', `No template for ${String(settings)}.`);
  }
}

test('an error that a plugin leaves to the user to mend keeps its own words', () => {
  const plugin = { name: 'particular', plugin: Particular, settings: 'tests' };
  const { code, message } = thrownBy(() => construct(runContainer([]), plugin));
  expect([code, message]).toEqual(['TOKENIZER_INVALID', 'No template for tests.']);
});

describe('an episode', () => {
  test('gives its plugins its task, their own settings and the services of the run', () => {
    const episode = episodeContainer(run, taskOf('a'));
    const first = construct<World>(episode, world('first', { penalty: 1 }));
    const second = construct<World>(episode, world('second', { penalty: 2 }));
    expect([first.task.taskId, first.settings, second.settings]).toEqual([
      'a',
      { penalty: 1 },
      { penalty: 2 },
    ]);
    expect(first.sandbox).toBe(service);
  });

  test('shares nothing with another but the services of the run', () => {
    const one = construct<World>(episodeContainer(run, taskOf('a')), world('w', {}));
    const two = construct<World>(episodeContainer(run, taskOf('b')), world('w', {}));
    expect(one).not.toBe(two);
    expect([one.task.taskId, two.task.taskId]).toEqual(['a', 'b']);
    expect(one.sandbox).toBe(two.sandbox);
  });

  test('gives a class what the one it extends asks for', () => {
    class SmallWorld extends World {}
    class TinyWorld extends SmallWorld {}
    const tiny = { name: 'tiny', plugin: TinyWorld, settings: { penalty: 3 } };
    const made = construct<World>(episodeContainer(run, taskOf('a')), tiny);
    expect([made.task.taskId, made.settings, made.sandbox]).toEqual(['a', { penalty: 3 }, service]);
  });

  test('a plugin that asks for what is not there is named, with what to do', () => {
    const { code, message } = thrownBy(() => construct(runContainer([]), world('maze', {})));
    expect(code).toBe('PLUGIN_LOAD_FAILED');
    expect(message).toMatch(
      /Plugin "maze" could not be made.*: .*agent_rl\.Task.*@inject\(TOKEN\)/s,
    );
  });
});

describe('a plugin that asks for nothing by @inject', () => {
  const episode = episodeContainer(run, taskOf('a'));
  class Open {
    constructor(
      readonly given: { task: Task; settings: unknown; sandbox: unknown; shared: unknown },
    ) {}
  }
  const open = (needs?: readonly 'sandbox'[]) => ({
    name: 'open',
    plugin: Open,
    settings: {},
    needs,
  });

  test('is given its task, settings, sandbox and what is shared as one object', () => {
    class Picks {
      readonly #parts: readonly unknown[];
      constructor({ task, settings, sandbox, shared }: Record<string, unknown>) {
        this.#parts = [(task as Task).taskId, settings, sandbox, shared];
      }
      parts() {
        return this.#parts;
      }
    }
    class PicksToo extends Picks {}
    for (const plugin of [Picks, PicksToo]) {
      const needs = ['sandbox'] as const;
      const construction = { name: 'p', plugin, settings: { by: 1 }, shared: 'index', needs };
      const made = construct<Picks>(episode, construction);
      expect(made.parts()).toEqual(['a', { by: 1 }, service, 'index']);
    }
  });

  test.each([
    ['sandbox', /asks for sandbox, and its spec does not say needs: \['sandbox'\]/],
    ['shared', /asks for shared, and its spec has no open/],
    ['setings', /asks for setings, and a plugin is given task, settings, sandbox and shared/],
    ['prompt', /asks for prompt, and a plugin is given/],
    ['constructor', /asks for constructor, and a plugin is given/],
  ])('is told when it asks for what it is not given: %s', (key, told) => {
    class Asks extends Open {
      readonly value = (this.given as unknown as Record<string, unknown>)[key];
    }
    const asks = () => construct(episode, { ...open(), plugin: Asks });
    expect(thrownBy(asks)).toMatchObject({
      code: 'PLUGIN_LOAD_FAILED',
      message: expect.stringMatching(told),
    });
  });

  test('is told when it asks for a task outside an episode', () => {
    const made = construct<Open>(run, open());
    expect(() => made.given.task).toThrow(/asks for task, and it is made once for all tasks/);
    expect(made.given.settings).toEqual({});
  });

  test('may have one parameter and no more', () => {
    class Two {
      constructor(
        readonly task: Task,
        readonly settings: unknown,
      ) {}
    }
    expect(constructorProblem(Two)).toMatch(
      /constructor of Two has 2 parameters .* Take one object, constructor\(\{ task, settings, sandbox \}\)/,
    );
    expect([Open, World, (_: unknown, also: unknown) => also].map(constructorProblem)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a reward', () => {
  const episode = { turns: [1, 2] } as unknown as EpisodeView;

  test('may be a function of the episode and its settings', () => {
    const plugin = ({ turns }: EpisodeView, { perTurn }: { perTurn: number }) =>
      -perTurn * turns.length;
    const score = rewardFunction(run, { name: 'r', plugin, settings: { perTurn: 0.5 } });
    expect(score(episode)).toBe(-1);
  });

  test('may be a class with a score, made with what it asks for', () => {
    class PerTurn {
      constructor(@inject(SETTINGS) private readonly settings: { perTurn: number }) {}
      score({ turns }: EpisodeView) {
        return -this.settings.perTurn * turns.length;
      }
    }
    const score = rewardFunction(run, { name: 'r', plugin: PerTurn, settings: { perTurn: 2 } });
    expect(score(episode)).toBe(-4);
  });
});

describe('a reward manager', () => {
  const group = { task: { taskId: 't', prompt: '', metadata: {} }, terms: [], episodes: [] };
  const { signal } = new AbortController();

  test('that is a class is made with its settings, and its method is called on it', async () => {
    class Constant {
      readonly #value: number;
      constructor({ settings }: { settings: { value: number } }) {
        this.#value = settings.value;
      }
      assign() {
        return { rewards: [this.#value] };
      }
    }
    const construction = { name: 'constant', plugin: Constant, settings: { value: 3 } };
    const manager = openRewardManager(runContainer([]), construction);
    expect(await manager.assign(group, signal)).toEqual({ rewards: [3] });
  });

  test('that is a function is given the group, its settings and the signal', async () => {
    const plugin = (...given: unknown[]) => ({ rewards: [], given });
    const construction = { name: 'function', plugin, settings: { value: 3 } };
    const manager = openRewardManager(runContainer([]), construction);
    expect(await manager.assign(group, signal)).toEqual({
      rewards: [],
      given: [group, { value: 3 }, signal],
    });
  });

  test('of a run has no task', () => {
    class Asks {
      constructor({ task }: { task: unknown }) {
        void task;
      }
      assign() {
        return { rewards: [] };
      }
    }
    const construction = { name: 'asks', plugin: Asks, settings: {} };
    expect(() => openRewardManager(runContainer([]), construction)).toThrow(
      'its constructor asks for task, and it is made once for all tasks',
    );
  });
});
