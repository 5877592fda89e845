import { describe, expect, test } from '@jest/globals';

import type { Turn } from '../../agent_rl/core/plugins/environment.ts';
import { isSystemFailure, outcomes } from '../../agent_rl/core/outcome.ts';
import {
  blindView,
  type EpisodeView,
  rewards,
  scoreOf,
} from '../../agent_rl/core/plugins/reward.ts';
import { expectSpec, frozen, snakeCase } from './contract-parts.ts';

export interface RewardContract {
  /** The function or class that carries the mark. */
  plugin: unknown;
  /** Scores as a run would: the function, or the `score` of a new instance, with its settings. */
  score: (
    episode: EpisodeView,
  ) => number | readonly number[] | undefined | Promise<number | readonly number[] | undefined>;
  /** An episode that must score more than `worse`. */
  better: EpisodeView;
  worse: EpisodeView;
  /** Episodes that it must not judge. */
  notApplicable?: readonly EpisodeView[];
}

const malformedCalls = [{ id: 'call_1_0', text: '{', problem: 'is not JSON' }];
const oddTurns: readonly Turn[] = [
  { index: 0, message: { role: 'assistant', content: '' }, calls: [] },
  {
    index: 1,
    message: { role: 'assistant', content: '', malformedCalls },
    calls: (['ok', 'error', 'rejected', 'timeout'] as const).map((status, i) => ({
      call: { id: `call_1_${i + 1}`, name: 'contract_tool', arguments: {} },
      result: { content: '' },
      status,
      wallMs: 0,
    })),
  },
];

/** Every way an episode can end that has a reward, without turns, with a silent one and with every kind of call. */
const endings: readonly EpisodeView[] = outcomes
  .filter((outcome) => !isSystemFailure(outcome))
  .flatMap((outcome) =>
    [0, 1, 2].map((turns) => ({
      task: { taskId: 'contract', prompt: '', metadata: {} },
      agent: 'policy',
      messages: [],
      turns: oddTurns.slice(0, turns),
      verdict: { outcome, reward: 0, components: {}, success: outcome === 'completed' },
    })),
  );

/** What every reward promises. Call it from the test of each reward plugin. */
export function describeRewardContract(name: string, contract: RewardContract): void {
  const { plugin, score, better, worse, notApplicable = [] } = contract;
  describe(`${name} keeps the Reward contract`, () => {
    test('is marked with a spec whose settings do not take the names type and weight', () => {
      expectSpec(rewards.specOf(plugin), { taken: ['type', 'weight'], names: snakeCase });
      expect(rewards.problemsOf(plugin)).toEqual([]);
    });

    test('prefers the better episode, by a finite number', async () => {
      const scores = [scoreOf(await score(better)), scoreOf(await score(worse))];
      expect(scores.map(Number.isFinite)).toEqual([true, true]);
      expect(scores[0]).toBeGreaterThan(scores[1] ?? Number.NaN);
    });

    test('gives no score to an episode that it does not apply to', async () => {
      for (const episode of notApplicable) expect(await score(episode)).toBeUndefined();
    });

    test('is a finite number or undefined for any episode', async () => {
      for (const episode of endings) {
        const value = await score(episode);
        expect(value === undefined || Number.isFinite(scoreOf(value))).toBe(true);
        // One for each turn, if it gives several.
        expect(typeof value === 'object' ? value.length : episode.turns.length).toBe(
          episode.turns.length,
        );
      }
    });

    test('judges only the conversation if its spec says that it is blind', async () => {
      if (rewards.specOf(plugin)?.blind !== true) return;
      for (const episode of [better, worse, ...notApplicable, ...endings])
        expect(await score(blindView(episode))).toEqual(await score(episode));
    });

    test('depends only on the episode and leaves it unchanged', async () => {
      for (const episode of [better, worse, ...notApplicable, ...endings]) {
        const given = frozen(structuredClone(episode));
        const value = await score(given);
        expect(await score(given)).toEqual(value);
      }
    });
  });
}
