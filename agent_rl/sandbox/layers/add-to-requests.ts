import type { SandboxLimits } from '../../core/services/sandbox.ts';
import type { Layer } from './layer.ts';

/** Gives requests that name no limits, or not all, these. */
export const addLimits = (limits: SandboxLimits): Layer => ({
  execute: (next) => (request, signal) =>
    next({ ...request, limits: { ...limits, ...request.limits } }, signal),
  openSession:
    (next) =>
    (request = {}) =>
      next({ ...request, limits: { ...limits, ...request.limits } }),
});

/** Says who asks, so that requests of one rollout take turns with those of others. */
export const addOwner = (owner: string): Layer => ({
  execute: (next) => (request, signal) => next({ ...request, owner }, signal),
  openSession:
    (next) =>
    (request = {}) =>
      next({ ...request, owner }),
});
