import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import type { AgentContext } from '#agent_rl/core/plugins/agent.ts';
import { environments, type ExternalEnvironment } from '#agent_rl/core/plugins/environment.ts';
import type { Class } from '#agent_rl/core/plugins/given.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { rollouts } from '#agent_rl/core/services/rollout-scope.ts';
import { ownerOfStrays, StrayFailure } from '#agent_rl/core/stopping/stray-failure.ts';
import { agent } from '#agent_rl/environments/external/agent.ts';
import { describeExternalEnvironmentContract } from '#tests/contracts/external-environment-contract.ts';
import { defaults, questionOf } from '#tests/support/own-loops.ts';

const { signal } = new AbortController();
const description = 'An agent for tests.';
const context = (more: Partial<AgentContext> = {}): AgentContext => ({
  task: questionOf('q'),
  signal,
  random: new KeyedRng(1),
  fetch,
  baseURL: 'http://127.0.0.1:9/v1',
  apiKey: 'k',
  ...more,
});
const made = (plugin: Class<ExternalEnvironment>, settings: object = {}) =>
  new plugin({ task: questionOf('q'), settings: { ...defaults, ...settings } });

const rightAnswer = '42';
const polite = agent({
  name: 'polite',
  description,
  settings: Type.Object({ greeting: Type.String({ default: 'Hello' }) }),
  isModelError: (thrown) => thrown instanceof RangeError,
})(({ task, apiKey }, { greeting }) => `${greeting} ${task.answer ?? ''} ${apiKey}`);

@agent({ name: 'counting', description })
class Counting {
  #count = 0;
  run({ task }: AgentContext): string {
    this.#count += 1;
    return `${task.prompt} ${this.#count}`;
  }
}

const create = () => made(polite);
describeExternalEnvironmentContract('A function marked by agent', {
  plugin: polite,
  create,
  rightAnswer,
});
describeExternalEnvironmentContract('A class marked by agent', {
  plugin: Counting,
  create: () => made(Counting as unknown as Class<ExternalEnvironment>),
  rightAnswer: '42',
});

describe('An agent plugin', () => {
  test('has its own settings in addition to the judging settings', async () => {
    const schema = environments.specOf(polite)?.settings as { properties: object } | undefined;
    expect(schema?.properties).toMatchObject({ match: {}, greeting: {} });
    expect(await made(polite, { greeting: 'Hi' }).run(context())).toBe('Hi 42 k');
  });

  test('may be a class, with a new instance per rollout', async () => {
    const one = () => made(Counting as unknown as Class<ExternalEnvironment>).run(context());
    expect([await one(), await one()]).toEqual(['q 1', 'q 1']);
  });

  test('reaches the model of its rollout from any context', async () => {
    const seen = agent({ name: 'seen', description })(async () => {
      await sleep(1);
      return rollouts.scope.getStore()?.fetch;
    });
    const own: typeof fetch = () => Promise.reject(new Error('not asked'));
    const runs = [own, fetch].map((one) => made(seen).run(context({ fetch: one })));
    expect(await Promise.all(runs)).toEqual([own, fetch]);
    expect(rollouts.scope.getStore()).toBeUndefined();
  });

  test("decides which of its errors are the model's", () => {
    const environment = made(polite);
    expect(environment.isModelError(new RangeError('odd'))).toBe(true);
    const ofModel = Object.assign(new Error('x'), { name: 'ModelBehaviorError' });
    expect(environment.isModelError(ofModel)).toBe(true);
    expect(environment.isModelError(new Error('mine'))).toBe(false);
  });

  test('may leave rejected promises, which the verdict reports', async () => {
    const stray = agent({ name: 'stray', description })(() => {
      // As the job does with a promise that is rejected and that nothing awaits.
      ownerOfStrays()?.(new StrayFailure('rejection', new Error('left behind')));
      return '42';
    });
    const environment = made(stray);
    const { record } = await environment.finish('done', signal, await environment.run(context()));
    expect(record).toEqual({ unawaited: [expect.stringContaining('left behind')] });
  });

  test('rethrows its errors, also synchronous ones', async () => {
    const broken = agent({ name: 'broken', description })(() => {
      throw new TypeError('broken');
    });
    await expect(made(broken).run(context())).rejects.toThrow('broken');
  });
});
