import { rollouts } from '../../core/services/rollout-scope.ts';

/**
 * `fetch` for a client of the OpenAI API. Within a rollout the model that is trained answers; where nothing is trained, it is the
 * global `fetch`, so that the same agent runs in production.
 *
 * @throws Error where rollouts are played and this is called outside of them, such as by a queue that an agent shares
 * @example new OpenAI({ fetch: rolloutFetch })
 */
export const rolloutFetch: typeof fetch = async (input, init) => {
  const scope = rollouts.scope.getStore();
  if (scope !== undefined) return scope.fetch(input, init);
  if (rollouts.open === 0) return fetch(input, init);
  throw new Error(
    'rolloutFetch was called outside a rollout during training. A queue, a pool or an event emitter can lose track of which rollout a call belongs to. Use context.fetch in such code; the agent receives it.',
  );
};
