import { type Static, Type } from '../core/typebox.ts';
import { costLimit, costs, integer, most, within } from '../config/blocks/block.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';

const Settings = Type.Object({
  minCalls: integer('Minimum number of calls', {
    ...within(0, most.count, 1),
    idleWith: { perCall: 0 },
  }),
  freeCalls: integer('Number of calls without a cost; must be at least minCalls', {
    ...within(0, most.count, 1),
    idleWith: { perCall: 0 },
  }),
  perCall: costs(
    'Cost of each call beyond freeCalls, and of each call that is missing to reach minCalls',
    0.1,
  ),
  maxCost: costLimit('Maximum cost'),
});

/**
 * Minus a cost for each call beyond the free ones, or for each missing one. Calls that did not run do not count:
 * `rollout.invalidCallPenalty` is for them.
 */
export const toolCalls = reward({
  name: 'tool_calls',
  description: 'Cost of making too many or too few tool calls',
  settings: Settings,
  blind: true,
})((
  { turns }: EpisodeView,
  { minCalls, freeCalls, perCall, maxCost }: Static<typeof Settings>,
): number => {
  const ran = turns.flatMap(({ calls }) => calls).filter(({ status }) => status !== 'rejected');
  const off = Math.max(0, ran.length - Math.max(minCalls, freeCalls), minCalls - ran.length);
  return off === 0 ? 0 : -Math.min(maxCost, off * perCall);
});
