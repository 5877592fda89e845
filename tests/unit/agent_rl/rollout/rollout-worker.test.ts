import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import type { Rollout } from '#agent_rl/core/rollout.ts';
import type { EpisodeMaker } from '#agent_rl/rollout/episode-parts.ts';
import { planGroups, AsyncRolloutWorker, RolloutWorker } from '#agent_rl/rollout/rollout-worker.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { ScriptedEnvironment } from '#tests/support/scripted-environment.ts';
import { says, ScriptedPolicy } from '#tests/support/scripted-policy.ts';

const die = { name: 'die', description: 'Rolls', parameters: Type.Object({}) };

/** Turns of keyed random length, each calling a tool of keyed random content, taking keyed random time. */
const make: EpisodeMaker = () => ({
  policy: new ScriptedPolicy(async ({ key: { seed, taskId, sample, turn } }) => {
    const random = new KeyedRng(seed, taskId, sample, turn);
    for (let i = random.integer(5); i > 0; i--) await Promise.resolve();
    const tokens = Array.from({ length: 1 + random.integer(4) }, () => random.integer(100));
    return { message: turn === 2 ? says('done') : says('', ['die', {}]), tokens };
  }),
  world: worldOfOne(new ScriptedEnvironment()),
  tools: new Map([
    ['die', { call: async (_: never, { random }) => ({ content: String(random.integer(6)) }) }],
  ]),
  toolRunner: new ToolRunner([die]),
  rewards: [],
  invalidCallPenalty: 0,
  limits: { maxTurns: 5, maxEpisodeTokens: 100, maxTurnTokens: 9, invalidCallLimit: 3 },
});

const tasks = ['a', 'b', 'c'].map((taskId) => ({ taskId, prompt: taskId, metadata: {} }));
const key = { run: 'run', when: 'train', iteration: 3, round: 0 } as const;
const options = { step: 1, sampling: unbiased, seedPath: [7], key };
const groups = planGroups(tasks, { ...options, groupSize: 4 });
const signal = new AbortController().signal;

/** Everything but how long it took. */
const comparable = (rollouts: readonly Rollout[]): readonly Rollout[] => {
  const timed = (name: string) => name === 'seconds' || name === 'wallMs';
  const untimed = (name: string, value: unknown) => (timed(name) ? undefined : value);
  return JSON.parse(JSON.stringify(rollouts, untimed)) as Rollout[];
};

describe('A rollout worker', () => {
  test('plays the same rollouts, in the requested order, 1, 4 or 16 at a time', async () => {
    const requests = groups.flat();
    const one = comparable(await new RolloutWorker(make).collect(requests, { signal }));
    expect(one.map(({ taskId, key: { sample } }) => taskId + sample)).toEqual(
      ['a', 'b', 'c'].flatMap((id) => [0, 1, 2, 3].map((sample) => `${id}${sample}`)),
    );
    for (const inFlight of [1, 4, 16]) {
      const many = await new AsyncRolloutWorker(make, inFlight).collect(requests, { signal });
      expect(comparable(many)).toEqual(one);
    }
  });

  test('keeps the number in flight and continues after a failure', async () => {
    let [inFlight, most] = [0, 0];
    const counted: EpisodeMaker = async (request) => {
      most = Math.max(most, ++inFlight);
      await Promise.resolve();
      if (request.key.sample === 1) {
        inFlight -= 1;
        throw new Error('unlucky');
      }
      const parts = await make(request);
      return { ...parts, close: async () => void (inFlight -= 1) };
    };
    const ended: string[] = [];
    const onRollout = ({ outcome }: Rollout) => ended.push(outcome);
    const worker = new AsyncRolloutWorker(counted, 3);
    const played = await worker.collect(groups.flat(), { signal, onRollout });
    expect(most).toBe(3);
    const failed = played.filter(({ outcome }) => outcome !== 'completed');
    expect(failed.map(({ key: { sample } }) => sample)).toEqual([1, 1, 1]);
    expect(ended).toHaveLength(12);
  });

  test('shares its workers among collections, the older one first', async () => {
    let [inFlight, most] = [0, 0];
    const begun: number[] = [];
    const counted: EpisodeMaker = async (request) => {
      most = Math.max(most, ++inFlight);
      begun.push(request.key.iteration);
      return { ...(await make(request)), close: async () => void (inFlight -= 1) };
    };
    const worker = new AsyncRolloutWorker(counted, 3);
    const of = (iteration: number) =>
      planGroups(tasks, { ...options, groupSize: 4, key: { ...key, iteration } }).flat();
    const rounds = [of(1).slice(0, 4), of(2), of(1).slice(4)];
    await Promise.all(rounds.map((requests) => worker.collect(requests, { signal })));
    expect(most).toBe(3);
    expect(begun).toEqual([...begun].toSorted((a, b) => a - b));
    expect(begun).toHaveLength(24);
  });

  test('ends every lane if an episode cannot be played', async () => {
    let [made, open] = [0, 0];
    const counted: EpisodeMaker = async (request) => {
      made += 1;
      open += 1;
      return { ...(await make(request)), close: async () => void (open -= 1) };
    };
    const told: string[] = [];
    const collected = new AsyncRolloutWorker(counted, 3).collect(groups.flat(), {
      signal,
      onRollout: (played) => {
        told.push(`${played.taskId} ${played.key.sample}`);
        throw new Error('the disk is full');
      },
    });
    await expect(collected).rejects.toThrow('the disk is full');
    expect(told).toHaveLength(1);
    expect(open).toBe(0);
    const madeByThen = made;
    expect(madeByThen).toBeLessThan(6);
    await new Promise((resolve) => setImmediate(resolve));
    expect(made).toBe(madeByThen);
  });

  test('refuses a concurrency of 0', () => {
    expect(() => new AsyncRolloutWorker(make, 0)).toThrow('rollout.workers is 0');
  });
});

describe('planGroups', () => {
  test('gives members of a group one seed and an index, and groups different seeds', () => {
    const seeds = groups.map((group) => new Set(group.map(({ seed }) => seed)));
    expect(seeds.map(({ size }) => size)).toEqual([1, 1, 1]);
    expect(new Set(seeds.flatMap((set) => Array.from(set))).size).toBe(3);
    expect(groups[1]?.map((request) => request.key.sample)).toEqual([0, 1, 2, 3]);
  });

  test('gives a repeated task different seeds', () => {
    const [task] = tasks;
    if (task === undefined) throw new Error('no task');
    const plan = planGroups([task, task], { ...options, groupSize: 1 });
    expect(plan[0]?.[0]?.seed).not.toBe(plan[1]?.[0]?.seed);
  });
});
