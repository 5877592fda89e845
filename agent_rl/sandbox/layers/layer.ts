import type { Sandbox, SandboxLimits } from '../../core/services/sandbox.ts';
import { spanned } from '../../core/profile/spans.ts';
import { notTimed } from '../../core/stopping/work-clock.ts';
import type { SandboxIncident } from '../incident.ts';

export type Execute = Sandbox['execute'];
export type OpenSession = Sandbox['openSession'];

/** Stands between the caller and a backend and sees each request. */
export interface Layer {
  execute: (next: Execute) => Execute;
  /** Left out when the layer does not change sessions. */
  openSession?: (next: OpenSession) => OpenSession;
}

/** A sandbox behind layers, the first outermost. */
export function layered(sandbox: Sandbox, layers: readonly Layer[]): Sandbox {
  const execute = layers.reduceRight<Execute>(
    (next, layer) => layer.execute(next),
    (request, signal) => sandbox.execute(request, signal),
  );
  const openSession = layers.reduceRight<OpenSession>(
    (next, layer) => layer.openSession?.(next) ?? next,
    (request) => sandbox.openSession(request),
  );
  return {
    execute,
    openSession,
    capabilities: () => sandbox.capabilities(),
    close: () => sandbox.close(),
  };
}

/** Adds these limits to requests that do not set them. */
export const addLimits = (limits: SandboxLimits): Layer => ({
  execute: (next) => (request, signal) =>
    next({ ...request, limits: { ...limits, ...request.limits } }, signal),
  openSession:
    (next) =>
    (request = {}) =>
      next({ ...request, limits: { ...limits, ...request.limits } }),
});

/** Names the owner, so that requests of one rollout take turns with requests of others. */
export const addOwner = (owner: string): Layer => ({
  execute: (next) => (request, signal) => next({ ...request, owner }, signal),
  openSession:
    (next) =>
    (request = {}) =>
      next({ ...request, owner }),
});

/** Wraps every program of a sandbox and its sessions. */
const around = (work: <Result>(next: () => Promise<Result>) => Promise<Result>): Layer => ({
  execute: (next) => (request, signal) => work(() => next(request, signal)),
  openSession: (next) => (request) => {
    const session = next(request);
    return {
      run: (program, signal) => work(() => session.run(program, signal)),
      close: () => work(() => session.close()),
    };
  },
});

/**
 * Does not count time spent here against the deadline of the waiting plugin: programs have their own limits, and the wait
 * for a free worker only depends on how busy the machine is.
 */
export const notTimedByCaller = around(notTimed);

/** Shows in a profile when the sandbox works. It stands behind the queue, so waiting for a free worker does not count. */
export const shownInProfile = around((next) =>
  spanned({ track: 'sandbox', name: 'running a program or ending a session' }, next),
);

/**
 * Retries once, in another process, when the sandbox itself failed. A second failure stays `sandbox_error`, which gives no
 * reward. Sessions are not retried, because their variables are gone; nothing is retried once `closed` is aborted.
 */
export const retryOnce = ({
  onIncident,
  closed,
}: {
  onIncident: (incident: SandboxIncident) => void;
  closed: AbortSignal;
}): Layer => ({
  execute: (next) => async (request, signal) => {
    const first = await next(request, signal);
    if (first.status !== 'sandbox_error' || closed.aborted) return first;
    const why = first.message ?? 'the sandbox failed';
    onIncident({ kind: 'retry', message: `Retrying a program: ${why}` });
    return next(request, signal);
  },
});
