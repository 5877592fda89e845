import { describe, expect, test } from '@jest/globals';

import { environments } from '../../agent_rl/core/plugins/environment.ts';
import type { Environment, Turn, Verdict } from '../../agent_rl/core/plugins/environment.ts';
import { expectSpec, snakeCase } from './contract-parts.ts';
import { expectWellFormed, silentTurn } from './well-formed-verdict.ts';

export interface EnvironmentContract {
  /** The class that carries `@environment`. */
  plugin: unknown;
  /** A new instance for one and the same task, as the container would make it. */
  create: () => Environment;
  /** Turns that solve the task. */
  winningTurns: readonly Turn[];
}

const signal = new AbortController().signal;

async function play(environment: Environment, turns: readonly Turn[]): Promise<Verdict> {
  await environment.start(signal);
  for (const turn of turns) {
    if ((await environment.step(turn, signal)).done) return environment.finish('done', signal);
  }
  return environment.finish('turn-limit', signal);
}

/** What every environment promises. Call it from the test of each environment plugin. */
export function describeEnvironmentContract(name: string, contract: EnvironmentContract): void {
  const { plugin, create, winningTurns } = contract;
  describe(`${name} keeps the Environment contract`, () => {
    test('is marked with a spec and has the interface of its kind', () => {
      const spec = environments.specOf(plugin);
      expectSpec(spec, { names: snakeCase });
      expect(environments.problemsOf(plugin)).toEqual([]);
      expect(spec?.settings).toMatchObject({ type: 'object', additionalProperties: false });
    });

    test('starts with a message for the policy to answer', async () => {
      const messages = await create().start(signal);
      expect(messages.at(-1)?.role).toBe('user');
    });

    test('rewards a solved task more than an abandoned one', async () => {
      const won = await play(create(), winningTurns);
      const lost = await play(create(), [silentTurn(0)]);
      expectWellFormed(won);
      expectWellFormed(lost);
      expect([won.success, lost.success]).toEqual([true, false]);
      expect(won.reward).toBeGreaterThan(lost.reward ?? Number.NaN);
    });

    test.each(['turn-limit', 'token-limit', 'invalid-calls', 'agent-error', 'aborted'] as const)(
      'judges an episode that ended by %s before any turn',
      async (end) => {
        const environment = create();
        await environment.start(signal);
        const verdict = await environment.finish(end, signal);
        expectWellFormed(verdict);
        expect(verdict.success).toBe(false);
      },
    );

    test('ends or continues after each turn, and continues without tool results only with a message', async () => {
      const environment = create();
      await environment.start(signal);
      for (let index = 0; index < 100; index++) {
        const { done, messages = [] } = await environment.step(silentTurn(index), signal);
        if (done) return;
        expect(messages.length).toBeGreaterThan(0);
      }
    });

    test('shares nothing between two episodes of a task', async () => {
      expect(await play(create(), winningTurns)).toEqual(await play(create(), winningTurns));
      expect(await create().start(signal)).toEqual(await create().start(signal));
    });
  });
}
