import { expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { learning } from '#agent_rl/compose/model/open-engine.ts';
import { trainerOptions } from '#agent_rl/jobs/train/trainer-options.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const file = 'configs/code_exec_smoke.yaml';
const of = async (...overrides: string[]) => {
  const { loaded, chosen } = await prepareRun({ file, overrides, training: true });
  const { config } = loaded;
  const { kl, klInReward } = trainerOptions(config, chosen, 'run').algorithm;
  const engine = learning(config, chosen.loss);
  return { kl, klInReward, engine, warnings: loaded.warnings };
};
const k3 = 'algorithm.kl={kind: k3, weight: 0.1}';

test('algorithm.kl acts in the loss or on rewards, and both need the reference', async () => {
  const inLoss = await of(k3);
  expect(inLoss).toMatchObject({
    kl: { kind: 'k3', weight: 0.1 },
    engine: { reference: true, training: { loss: { kl: { kind: 'k3', weight: 0.1 } } } },
  });
  expect(inLoss.klInReward).toBeUndefined();
  const inReward = await of(k3, 'algorithm.kl.in=reward');
  expect(inReward).toMatchObject({
    kl: { kind: 'none', weight: 0 },
    klInReward: { kind: 'k3', weight: 0.1 },
    engine: { reference: true, training: { loss: { kl: { kind: 'none' } } } },
  });
});

test('algorithm.kl.in has no effect without a kind, or with an advantage that ignores rewards', async () => {
  const { warnings, klInReward } = await of('algorithm.kl.in=reward');
  expect(klInReward).toBeUndefined();
  expect(warnings.join()).toMatch(/algorithm\.kl\.in .*has no effect/);
  const refused = await rejectionOf(of(k3, 'algorithm.kl.in=reward', 'algorithm.name=rft'));
  expect(refused.message).toContain(
    'algorithm.kl.in: "reward" has no effect, because algorithm.advantage is constant',
  );
});
