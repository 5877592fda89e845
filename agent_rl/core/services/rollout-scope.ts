import { AsyncLocalStorage } from 'node:async_hooks';

/** What work that belongs to a rollout asks the model with. */
export interface RolloutScope {
  readonly fetch: typeof fetch;
}

const opened = {
  scope: new AsyncLocalStorage<RolloutScope>(),
  /** Gateways that play rollouts in this process. */
  open: 0,
};

// `Symbol.for`, so that an agent with its own copy of this package finds its rollout too.
const shared = Symbol.for('agent_rl.rollouts');

/** Of this process. */
export const rollouts = ((globalThis as { [shared]?: typeof opened })[shared] ??= opened);
