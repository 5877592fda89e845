import { describe, expect, test } from '@jest/globals';

import type { Message } from '../../agent_rl/core/message.ts';
import { environments } from '../../agent_rl/core/plugins/environment.ts';
import type {
  MultiAgentEnvironment,
  Turn,
  Verdict,
} from '../../agent_rl/core/plugins/environment.ts';
import { expectSpec, snakeCase } from './contract-parts.ts';
import { expectWellFormed, silentTurn } from './well-formed-verdict.ts';

export interface MultiAgentEnvironmentContract {
  /** The class that carries `@environment` with the names of its agents. */
  plugin: unknown;
  /** A new instance for one and the same task, as the container would make it. */
  create: () => MultiAgentEnvironment;
  /** By agent: its turns in an episode that solves the task. */
  winningTurns: Readonly<Record<string, readonly Turn[]>>;
  /** Agents that win that episode; all by default. */
  winners?: readonly string[];
  /** By agent: a text that the environment itself must not tell it, such as the answer. */
  secrets?: Readonly<Record<string, string>>;
}

const signal = new AbortController().signal;

interface Played {
  verdicts: Readonly<Record<string, Verdict>>;
  /** By agent: the messages it received. */
  told: Map<string, Message[]>;
}

const mostTurns = 100;

/** Plays an episode by the rules of the rollout. */
async function play(
  environment: MultiAgentEnvironment,
  agents: readonly string[],
  turns: Readonly<Record<string, readonly Turn[]>>,
): Promise<Played> {
  const { conversations, first } = await environment.start();
  const told = new Map(agents.map((agent) => [agent, [...(conversations[agent] ?? [])]]));
  const read = new Map<string, number>();
  const acted = new Map<string, number>();
  let agent = first;
  for (let turn = 0; turn < mostTurns; turn++) {
    const heard = told.get(agent)?.length ?? 0;
    // An agent cannot act on nothing.
    expect([agent, heard > (read.get(agent) ?? 0)]).toEqual([agent, true]);
    read.set(agent, heard);
    const index = acted.get(agent) ?? 0;
    acted.set(agent, index + 1);
    const own = turns[agent]?.[index] ?? silentTurn(index);
    const step = await environment.step({ ...own, index, agent }, signal);
    for (const [to, messages] of Object.entries(step.tell ?? {})) {
      expect(agents).toContain(to);
      told.get(to)?.push(...messages);
    }
    if (step.done) return { verdicts: await environment.finish('done', signal, agent), told };
    agent = step.next ?? agent;
    expect(agents).toContain(agent);
  }
  return { verdicts: await environment.finish('turn-limit', signal, agent), told };
}

/** What every environment of several agents promises. Call it from the test of each such plugin. */
export function describeMultiAgentEnvironmentContract(
  name: string,
  contract: MultiAgentEnvironmentContract,
): void {
  const { plugin, create, winningTurns, secrets = {} } = contract;
  const agents = environments.specOf(plugin)?.agents ?? [];
  const { winners = agents } = contract;
  describe(`${name} keeps the MultiAgentEnvironment contract`, () => {
    test('is marked with a spec that names its agents, and has the interface of its kind', () => {
      const spec = environments.specOf(plugin);
      expectSpec(spec, { names: snakeCase });
      expect(environments.problemsOf(plugin)).toEqual([]);
      expect(spec?.settings).toMatchObject({ type: 'object', additionalProperties: false });
      expect(agents.length).toBeGreaterThan(1);
    });

    test('starts with an agent that has a message to answer', async () => {
      const { conversations, first } = await create().start();
      expect(agents).toContain(first);
      for (const agent of Object.keys(conversations)) expect(agents).toContain(agent);
      expect(conversations[first]?.at(-1)?.role).toBe('user');
    });

    test('rewards an agent that solves the task more than one that abandons it', async () => {
      const won = await play(create(), agents, winningTurns);
      const lost = await play(create(), agents, {});
      for (const agent of agents)
        for (const { verdicts } of [won, lost]) expectWellFormed(verdicts[agent] as Verdict);
      expect(winners.length).toBeGreaterThan(0);
      for (const agent of winners) {
        const [after, before] = [won.verdicts[agent], lost.verdicts[agent]];
        expect([agent, after?.success, before?.success]).toEqual([agent, true, false]);
        expect(after?.reward).toBeGreaterThan(before?.reward ?? Number.NaN);
      }
    });

    test('tells no agent the text it has to find out', async () => {
      const { told } = await play(create(), agents, {});
      for (const [agent, secret] of Object.entries(secrets)) {
        expect(agents).toContain(agent);
        expect(JSON.stringify(told.get(agent))).not.toContain(secret);
      }
    });

    test.each(['turn-limit', 'token-limit', 'invalid-calls', 'aborted'] as const)(
      'judges an episode that ended by %s before any turn',
      async (end) => {
        const environment = create();
        const { first } = await environment.start();
        const verdicts = await environment.finish(end, signal, first);
        expect(Object.keys(verdicts).toSorted()).toEqual(agents.toSorted());
        for (const verdict of Object.values(verdicts)) {
          expectWellFormed(verdict);
          expect(verdict.success).toBe(false);
        }
      },
    );

    test('shares nothing between two episodes of a task', async () => {
      const one = await play(create(), agents, winningTurns);
      expect(await play(create(), agents, winningTurns)).toEqual(one);
    });
  });
}
