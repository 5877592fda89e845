import { expect, test } from '@jest/globals';
import type { EpisodeView } from 'agent_rl/plugin';
import { describeRewardContract } from 'agent_rl/contracts';

import { extraCalls } from '../plugins/extra-calls-reward.ts';

const call = { id: 'call_0_0', name: 'convert', arguments: {} };
const executed = { call, result: { content: '36' }, status: 'ok' as const, wallMs: 0 };

const withCalls = (count: number): EpisodeView => ({
  task: { taskId: 'one', prompt: 'Convert 3 feet to inches.', metadata: {} },
  agent: 'policy',
  messages: [],
  turns: [
    {
      index: 0,
      message: { role: 'assistant', content: '' },
      calls: Array.from({ length: count }, () => executed),
    },
  ],
  verdict: { outcome: 'completed', reward: 1, components: { answer: 1 }, success: true },
});

// What every reward promises: finite numbers, the better episode above the worse, nothing changed.
describeRewardContract('extra_calls', {
  plugin: extraCalls,
  score: (episode) => extraCalls(episode, { perCall: 0.1 }),
  better: withCalls(1),
  worse: withCalls(2),
});

test('a wrong answer costs the same with and without calls', () => {
  const { verdict, ...episode } = withCalls(3);
  const wrong = { ...episode, verdict: { ...verdict, success: false } };
  expect(extraCalls(wrong, { perCall: 0.5 })).toBe(0);
});

test('the first call is free, and each call after it costs', () => {
  const scores = [0, 1, 2, 3].map((count) => extraCalls(withCalls(count), { perCall: 0.5 }));
  expect(scores).toEqual([0, 0, -0.5, -1]);
});
