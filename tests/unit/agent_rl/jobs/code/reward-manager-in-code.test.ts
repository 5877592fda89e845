import { expect, test } from '@jest/globals';

import {
  type JudgedGroup,
  rewardManager,
  type RewardManagerFunction,
  rewardManagers,
} from '#agent_rl/core/plugins/reward-manager.ts';
import { agentInCode, type AgentParts } from '#agent_rl/jobs/code/agent-in-code.ts';

const given = async (manager: NonNullable<AgentParts['rewardManager']>) => {
  const { settings, exported } = await agentInCode(
    { rewardManager: manager },
    { caller: 'trainAgent' },
  );
  return { block: (settings as Record<string, unknown>)['rewardManager'], exported };
};
const zeros = ({ episodes }: JudgedGroup) => ({ rewards: episodes.map(() => 0) });

test('a reward manager is a name, a block, a function, or one that is marked', async () => {
  expect(await given('ranking')).toEqual({ block: { type: 'ranking' }, exported: [] });
  const block = { type: 'mine', ties: 1 };
  expect(await given(block)).toEqual({ block, exported: [] });
  const marked = rewardManager({ name: 'zeros', description: 'Gives everyone 0.' })(
    (group: JudgedGroup) => zeros(group),
  );
  expect(await given(marked)).toEqual({ block: { type: 'zeros' }, exported: [marked] });
});

test("a program's function is asked with the group and leaves it unmarked", async () => {
  const { block, exported } = await given(zeros);
  const [plugin] = exported as [RewardManagerFunction];
  expect(rewardManagers.specOf(plugin)?.name).toBe((block as { type: string }).type);
  expect(rewardManagers.specOf(zeros)).toBeUndefined();
  const task = { taskId: 't', prompt: '', metadata: {} };
  const { signal } = new AbortController();
  expect(plugin({ task, terms: [], episodes: [] }, {}, signal)).toEqual({ rewards: [] });
});

test('a class without a mark is refused', async () => {
  class Unmarked {
    assign = undefined;
  }
  Object.assign(Unmarked.prototype, { assign: zeros });
  await expect(given(Unmarked as never)).rejects.toThrow(
    'rewardManager is not marked as a reward manager.',
  );
});
