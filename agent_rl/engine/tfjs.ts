import { createRequire } from 'node:module';

import type * as TensorFlow from '@tensorflow/tfjs-core';
// The types of operations as methods, `x.mul(y)`.
export type * from '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js';

import { AgentRlError } from '../core/errors.ts';

export type { Tensor } from '@tensorflow/tfjs-core';

// TensorFlow.js's core, gradients and `cpu` backend in one file, which `npm run bundles` makes.
const tfjs = createRequire(import.meta.url)('#tensorflow') as typeof TensorFlow;

// Production mode silences the advice tfjs prints on stderr when its `cpu` backend first runs.
tfjs.enableProdMode();

/** TensorFlow.js, loaded without its banner. */
export { tfjs };

/**
 * Runs `body` synchronously with `name` as tfjs's backend, inside a tidy scope, and puts the earlier backend
 * back. The backend must be initialised: only then does tfjs switch without waiting.
 */
export function withBackend<T>(name: string, body: () => T): T {
  if (tfjs.findBackend(name) === null) {
    throw new AgentRlError('DEVICE_UNAVAILABLE', `The tfjs backend "${name}" is not registered.`);
  }
  // tfjs picks a backend at its first operation; until then it has none to come back to.
  const before = (tfjs.getBackend() as string | undefined) ?? 'cpu';
  void tfjs.setBackend(name);
  tfjs.engine().startScope(name);
  try {
    return body();
  } finally {
    tfjs.engine().endScope();
    void tfjs.setBackend(before);
  }
}
