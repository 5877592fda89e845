import { afterAll, describe, expect, test } from '@jest/globals';

import type { AgentRlError } from '#agent_rl/core/errors.ts';
import { environments } from '#agent_rl/core/plugins/environment.ts';
import { ExternalEnv } from '#agent_rl/environments/external/external-env.ts';
import { errorNameIn, isModelError } from '#agent_rl/environments/external/model-errors.ts';
import type { ExternalSettings } from '#agent_rl/environments/external/settings.ts';
import { describeExternalEnvironmentContract } from '#tests/contracts/external-environment-contract.ts';
import { defaults, ownLoop, ownLoops, questionOf } from '#tests/support/own-loops.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const { signal } = new AbortController();
const { open, close } = ownLoops({ PATH: '/nowhere' });
afterAll(close);

const judged = (answer: unknown, settings: Partial<ExternalSettings> = {}, stderr?: string) => {
  const shared = {
    run: async (_: unknown, note: (text: string) => void) => {
      if (stderr !== undefined) note(stderr);
      return answer;
    },
    close: async () => undefined,
  };
  const given = { task: questionOf('q'), settings: { ...defaults, ...settings }, shared };
  return new ExternalEnv(given);
};

const kept = { plugin: ExternalEnv, create: () => judged(undefined), rightAnswer: '42' };
describeExternalEnvironmentContract('ExternalEnv', kept);

describe('An answer of an external agent', () => {
  test.each([
    ['42', {}, true],
    [42, {}, true],
    ['It is 42', {}, false],
    ['It is 42', { match: 'contains' }, true],
    ['It is 42.0', { match: 'number' }, true],
    [{ value: 42 }, { match: 'contains' }, true],
    [' ', {}, false],
  ] as const)('is judged like a final message: %j with %j', async (answer, settings, success) => {
    const verdict = await judged(undefined, settings).finish('done', signal, answer);
    expect(verdict).toMatchObject({ success, reward: success ? 1 : 0 });
  });

  test('is unsolved if it is missing, whatever the rewards', async () => {
    const unanswered = judged(undefined, { match: 'rewards', noAnswerPenalty: 0.5 });
    for (const answer of [undefined, null, '']) {
      const verdict = await unanswered.finish('done', signal, answer);
      expect(verdict).toMatchObject({ reward: -0.5, metrics: { noAnswer: 1 } });
      expect(verdict.solvedAt).toBeUndefined();
    }
    const answered = judged(undefined, { match: 'rewards', solvedAt: 0.7 });
    expect((await answered.finish('done', signal, { a: 1 })).solvedAt).toBe(0.7);
  });

  test("is recorded with the agent's stderr", async () => {
    const environment = judged('42', {}, 'asked once');
    const answer = await environment.run({} as never);
    const verdict = await environment.finish('done', signal, answer);
    expect(verdict.record).toEqual({ stderr: 'asked once' });
  });
});

describe('An error of an external agent', () => {
  const named = (name: string, cause?: unknown) =>
    Object.assign(new Error('x', { cause }), { name });

  const ofSdk = ['NoSuchTool', 'InvalidToolInput', 'ToolChoiceViolation', 'NoObjectGenerated'];
  const others = ['ModelBehaviorError', 'MaxTurnsExceededError', 'GraphRecursionError'];
  test.each([...ofSdk.map((name) => `AI_${name}Error`), ...others])(
    "counts as the model's if it is %s, also as a cause",
    (name) => {
      expect(isModelError(named(name))).toBe(true);
      expect(isModelError(named('Error', named('AI_RetryError', named(name))))).toBe(true);
    },
  );

  test("counts as the model's otherwise only if the agent says so", () => {
    const circle = named('A');
    circle.cause = circle;
    for (const thrown of [circle, named('AI_APICallError'), 'ModelBehaviorError', null])
      expect(isModelError(thrown)).toBe(false);
    expect(isModelError(named('Odd'), (one) => (one as Error).name === 'Odd')).toBe(true);
  });

  test.each([
    ['agents.exceptions.ModelBehaviorError: Tool x not found', 'ModelBehaviorError'],
    ['Traceback …\nagents.exceptions.MaxTurnsExceeded: Max turns (10)', 'MaxTurnsExceeded'],
    ['throw x\n^\n\nAI_NoSuchToolError: nope\n    at a.js:1:1\n\nNode.js v2', 'AI_NoSuchToolError'],
    ['ModelBehaviorError: handled\nKeyError: mine', 'KeyError'],
    ['about a ModelBehaviorError: it was handled', undefined],
    ['', undefined],
  ])('a program that writes %j to stderr ended with %s', (stderr, name) => {
    expect(errorNameIn(stderr)).toBe(name);
  });
});

test.each([
  [{}, 'Add agent: FILE'],
  [{ agent: 'a.ts', command: ['b'] }, 'both agent and command'],
  [{ command: ['b'], isolation: 'worker' }, 'isolation cannot be worker'],
] as const)('the settings %j are refused', (settings, problem) => {
  const configure = environments.specOf(ExternalEnv)?.configure;
  expect(() => configure?.(settings)).toThrow(problem);
});

test.each([
  [{ agent: '/no/such.mjs' }, 'PLUGIN_LOAD_FAILED', 'The agent /no/such.mjs does not exist'],
  [{ command: ['nope'] }, 'PLUGIN_LOAD_FAILED', 'The program nope of environment.command'],
  [{ command: ['./nope'] }, 'PLUGIN_LOAD_FAILED', './nope.'],
  [{ command: ['x'], env: ['NOT_SET'] }, 'CONFIG_INVALID', 'environment.env lists NOT_SET, but'],
  [{ agent: ownLoop('throws.mjs') }, 'PLUGIN_LOAD_FAILED', 'could not be loaded: not today'],
  [{ agent: ownLoop('no-agent.mjs') }, 'PLUGIN_LOAD_FAILED', 'exports no agent. Export a function'],
  [{ agent: ownLoop('class-agent.mjs') }, 'PLUGIN_LOAD_FAILED', 'exports a class; expected a'],
] as [Partial<ExternalSettings>, AgentRlError['code'], string][])(
  'an agent that cannot be opened is refused before the run: %j',
  async (settings, code, text) => {
    expect(await rejectionOf(open(settings))).toMatchObject(errorOf(code, text));
  },
);
