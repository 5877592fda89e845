import { AsyncLocalStorage } from 'node:async_hooks';

/** What work that belongs to a rollout asks the model with. */
export interface RolloutScope {
  readonly fetch: typeof fetch;
}

interface Rollouts {
  readonly scope: AsyncLocalStorage<RolloutScope>;
  /** Gateways that play rollouts in this process. */
  open: number;
}

// `Symbol.for`, so that an agent with its own copy of this package finds its rollout too.
const shared = Symbol.for('agent_rl.rollouts');

/** Of this process. */
export const rollouts: Rollouts = ((globalThis as { [shared]?: Rollouts })[shared] ??= {
  scope: new AsyncLocalStorage(),
  open: 0,
});
