import {
  groupAdvantages,
  type GroupAdvantageOptions,
} from '#agent_rl/algorithms/group-advantages.ts';
import { builtinLosses } from '#agent_rl/algorithms/losses/index.ts';
import { type LossFunction, losses } from '#agent_rl/core/algorithm/loss.ts';
import { builtinSelections } from '#agent_rl/algorithms/selections/index.ts';
import { type SelectionFunction, selections } from '#agent_rl/core/algorithm/selection.ts';
import type { PolicyLossSpec } from '#agent_rl/core/services/learner.ts';
import type { AlgorithmParts } from '#agent_rl/trainer/training-options.ts';

/** A built-in loss by name. */
export function builtinLoss(name: string): LossFunction {
  const found = builtinLosses.find((loss) => losses.specOf(loss)?.name === name);
  if (found === undefined) throw new Error(`There is no loss ${name}.`);
  return found as LossFunction;
}

/** The clipped loss, without a KL term unless one is given. */
export const clippedSpec = (
  clipLow: number,
  clipHigh: number,
  more: Partial<PolicyLossSpec> = {},
): PolicyLossSpec => ({
  name: 'policy',
  type: 'clipped',
  settings: { clipLow, clipHigh },
  kl: { kind: 'none', weight: 0 },
  temperature: 1,
  ...more,
});

/** Compared within groups. */
export const groupRelativeBy = (options: GroupAdvantageOptions): AlgorithmParts['advantage'] => ({
  name: 'group-relative',
  of: (groups) => groups.map((rewards) => groupAdvantages(rewards, options).advantages),
});

/** A built-in selection by name, with its settings. */
export function builtinSelection(name: string, settings: object = {}): AlgorithmParts['selection'] {
  const found = builtinSelections.find((one) => selections.specOf(one)?.name === name);
  if (found === undefined) throw new Error(`There is no selection ${name}.`);
  return { name, of: (group) => (found as SelectionFunction)(group, settings) };
}
