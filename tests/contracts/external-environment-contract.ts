import { describe, expect, test } from '@jest/globals';

import { type ExternalEnvironment, environments } from '../../agent_rl/core/plugins/environment.ts';
import { expectWellFormed } from './well-formed-verdict.ts';

export interface ExternalEnvironmentContract {
  /** The class that carries `@environment` or `@agent`. */
  plugin: unknown;
  /** A new instance for one and the same task, as the container would make it. */
  create: () => ExternalEnvironment;
  /** An answer that solves the task. */
  rightAnswer: unknown;
}

const signal = new AbortController().signal;

/** What every environment of an agent with a loop of its own promises. Call it from the test of each such plugin. */
export function describeExternalEnvironmentContract(
  name: string,
  { plugin, create, rightAnswer }: ExternalEnvironmentContract,
): void {
  describe(`${name} keeps the ExternalEnvironment contract`, () => {
    test('is marked with a spec that says external', () => {
      const spec = environments.specOf(plugin);
      expect(spec?.external).toBe(true);
      expect(spec?.description).toMatch(/\S.{9,}/);
      expect(spec?.settings).toMatchObject({ type: 'object', additionalProperties: false });
      expect(environments.problemsOf(plugin)).toEqual([]);
    });

    test('rewards the right answer more than no answer', async () => {
      const won = await create().finish('done', signal, rightAnswer);
      const lost = await create().finish('done', signal, undefined);
      expectWellFormed(won);
      expectWellFormed(lost);
      expect([won.success, lost.success]).toEqual([true, false]);
      expect(won.reward).toBeGreaterThan(lost.reward ?? Number.NaN);
    });

    test.each(['turn-limit', 'token-limit', 'agent-error', 'aborted'] as const)(
      'judges an episode that ended by %s without an answer',
      async (end) => {
        const verdict = await create().finish(end, signal, undefined);
        expectWellFormed(verdict);
        expect(verdict.success).toBe(false);
        expect(verdict.forfeited).toBe(end === 'agent-error' ? true : undefined);
      },
    );

    test('does not count its own failures as failures of the model', () => {
      const environment = create();
      for (const thrown of [new Error('mine'), new TypeError('mine'), 'mine', undefined])
        expect(environment.isModelError(thrown)).toBe(false);
    });
  });
}
