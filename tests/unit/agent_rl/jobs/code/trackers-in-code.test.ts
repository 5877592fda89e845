import { expect, test } from '@jest/globals';

import { tracker } from '#agent_rl/core/plugins/tracker.ts';
import { agentInCode } from '#agent_rl/jobs/code/agent-in-code.ts';

test("a program's trackers are marked functions, and blocks", async () => {
  const own = tracker({ name: 'own', description: 'Keeps nothing.' })(() => undefined);
  const given = { trackers: [own, { type: 'tensorboard', queue: 5 }] };
  const { settings, exported } = await agentInCode(given, { caller: 'trainAgent' });
  expect(settings).toMatchObject({
    trackers: [{ type: 'own' }, { type: 'tensorboard', queue: 5 }],
  });
  expect(exported).toEqual([own]);
  await expect(
    agentInCode({ trackers: [() => undefined] }, { caller: 'trainAgent' }),
  ).rejects.toThrow('trackers[0] is not marked as a tracker.');
});
