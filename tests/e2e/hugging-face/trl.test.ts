import { expect, test } from '@jest/globals';

import { groupAdvantages } from '#agent_rl/algorithms/group-advantages.ts';
import { policyLoss } from '#agent_rl/algorithms/policy-loss.ts';
import type { PolicyLossSpec } from '#agent_rl/core/services/learner.ts';
import { tokenWeights, type Aggregation } from '#agent_rl/algorithms/token-weights.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { largestDifference, report, storedJson } from '#tests/support/hugging-face.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { builtinLoss } from '#tests/support/algorithm-parts.ts';

type Rows = readonly (readonly number[])[];

interface Stored {
  batch: {
    logProbs: Rows;
    old: Rows;
    reference: Rows;
    mask: Rows;
    advantages: readonly number[];
  };
  mostTokens: number;
  losses: Readonly<
    Record<
      string,
      {
        type: keyof typeof aggregationOf;
        clipLow: number;
        clipHigh: number;
        beta: number;
        loss: number;
        gradient: Rows;
      }
    >
  >;
  rewards: readonly (readonly (number | null)[])[];
  advantages: Readonly<Record<'group' | 'none', Rows>>;
}

/** What TRL's types of loss are called here. */
const aggregationOf = {
  grpo: 'sequence-mean',
  bnpo: 'token-mean',
  dapo: 'token-mean',
  dr_grpo: 'constant',
} as const satisfies Record<string, Aggregation>;

const stored = storedJson('trl.json') as Stored;
const flat = (rows: Rows) => Float32Array.from(rows.flat());

const engine = cpuEngine();

/** Loss and its gradient with respect to the log-probabilities. */
async function ownLoss(weights: readonly Float32Array[], spec: PolicyLossSpec) {
  const { logProbs, old, reference, mask, advantages } = stored.batch;
  const feeds = {
    logProbs: flat(logProbs),
    oldLogProbs: flat(old),
    refLogProbs: flat(reference),
    advantages: flat(mask.map((row, i) => row.map(() => advantages[i]!))),
    weights: flat(weights.map((row) => [...row])),
  };
  const shape = [feeds.logProbs.length];
  const specs = Object.keys(feeds).map((name) => ({ name, shape, dtype: 'float32' as const }));
  const program = await engine.compile(specs, (inputs) => {
    const batch = inputs as unknown as Parameters<typeof policyLoss>[0];
    const of = (values: Tensor) =>
      policyLoss({ ...batch, logProbs: values }, spec, builtinLoss('clipped')).loss;
    return { loss: of(batch.logProbs), gradient: tf.grad(of)(batch.logProbs) };
  });
  const outputs = await program.run(feeds);
  await program.dispose();
  return { loss: outputs['loss']![0]!, gradient: outputs['gradient'] as Float32Array };
}

test.each(Object.entries(stored.losses))(
  'the loss and its gradient match TRL: %s',
  async (name, theirs) => {
    const weights = tokenWeights(
      stored.batch.mask.map((row) => Uint8Array.from(row)),
      { aggregation: aggregationOf[theirs.type], maxTokensPerEpisode: stored.mostTokens },
    );
    const { loss, gradient } = await ownLoss(weights, {
      name: 'policy',
      type: 'clipped',
      settings: { clipLow: theirs.clipLow, clipHigh: theirs.clipHigh },
      kl: theirs.beta === 0 ? { kind: 'none', weight: 0 } : { kind: 'k3', weight: theirs.beta },
      temperature: 1,
    });
    const measured = {
      loss: Math.abs(loss - theirs.loss),
      gradient: largestDifference(gradient, flat(theirs.gradient)),
    };
    report({ trl: name, ...measured });
    expect(measured.loss).toBeLessThanOrEqual(1e-5);
    expect(measured.gradient).toBeLessThanOrEqual(1e-5);
  },
);

test.each([
  ['group', 'sample'],
  ['none', 'none'],
] as const)("TRL's advantages with scale_rewards %s", (scale, std) => {
  const own = stored.rewards.map((group) => {
    const rewards = group.map((reward) => reward ?? undefined);
    // TRL gives 0 where there is no reward; here there is no advantage.
    return groupAdvantages(rewards, { std, eps: 1e-4 }).advantages.map((value) => value ?? 0);
  });
  const difference = largestDifference(own.flat(), stored.advantages[scale].flat());
  report({ trl: `advantages, ${scale}`, advantages: difference });
  expect(difference).toBeLessThanOrEqual(1e-5);
});
