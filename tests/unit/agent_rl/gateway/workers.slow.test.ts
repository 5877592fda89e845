import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { AgentContext } from '#agent_rl/core/plugins/agent.ts';
import type { ExternalEnvironment } from '#agent_rl/core/plugins/environment.ts';
import { keyOutsideRuns, type Rollout } from '#agent_rl/core/rollout.ts';
import { verdict } from '#agent_rl/core/plugins/verdict.ts';
import { AsyncRolloutWorker } from '#agent_rl/rollout/rollout-worker.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { worldOfAgent } from '#agent_rl/rollout/world.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { calling } from '#tests/support/agent-client.ts';
import { delayedAgent } from '#tests/support/delayed-agent.ts';
import { limits as episodeLimits, request } from '#tests/support/play-episode.ts';
import { limits, scriptedGateway } from '#tests/support/scripted-gateway.ts';
import { says, ScriptedPolicy } from '#tests/support/scripted-policy.ts';

/** Draws by the key alone what it says next. */
const drawing = (_: string, { key }: { key: { seed: number; taskId: string; turn: number } }) => {
  const rng = new KeyedRng(key.seed, key.taskId, key.turn);
  const word = ['red', 'green', 'blue'][rng.integer(3)]!;
  return rng.integer(2) === 0 ? calling('search', word, word) : `hm</think>${word}`;
};

let opened: Awaited<ReturnType<typeof scriptedGateway>>;
beforeAll(async () => {
  opened = await scriptedGateway(drawing);
});
afterAll(() => opened.gateway.close());

const environment: ExternalEnvironment = {
  run: ({ task, fetch }: AgentContext) => delayedAgent({ task, fetch, mostMs: 4 }),
  isModelError: () => false,
  finish: async (end, __, answer) => {
    const success = answer === 'red';
    return verdict(end, { success, components: { answer: Number(success) } });
  },
};

const playedBy = (workers: number): Promise<readonly Rollout[]> =>
  new AsyncRolloutWorker(
    () => ({
      world: worldOfAgent(environment),
      policy: new ScriptedPolicy(() => ({ message: says('') })),
      tools: new Map(),
      toolRunner: new ToolRunner([]),
      rewards: [],
      invalidCallPenalty: 0,
      limits: { ...episodeLimits, ...limits },
      gateway: opened.gateway,
    }),
    workers,
  ).collect(
    Array.from({ length: 32 }, (_, sample) => ({
      ...request,
      task: { taskId: `t${sample % 8}`, prompt: `Question ${sample % 8}`, metadata: {} },
      key: keyOutsideRuns(sample),
      seed: 9 + sample,
    })),
    { signal: new AbortController().signal },
  );

test('1, 8 and 64 workers produce the same rollouts, however long agents pause between requests', async () => {
  const [one, eight, all] = [await playedBy(1), await playedBy(8), await playedBy(64)];
  // What was played, but for how long it took.
  const timeless = (rollouts: readonly Rollout[]): unknown =>
    JSON.parse(
      JSON.stringify(rollouts, (name, value: unknown) =>
        ['seconds', 'wallMs'].includes(name) ? undefined : value,
      ),
    );
  expect(one).toHaveLength(32);
  const outcomes = new Set(one.map(({ outcome }) => outcome));
  expect(outcomes).toEqual(new Set(['completed', 'wrong-answer']));
  expect(timeless(eight)).toEqual(timeless(one));
  expect(timeless(all)).toEqual(timeless(one));
  const sequences = one.map(({ parts }) => parts[0]!.sequences.length);
  expect(Math.min(...sequences)).toBeGreaterThanOrEqual(5);
});
