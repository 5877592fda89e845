import type { Sandbox, SandboxLimits } from '../../core/services/sandbox.ts';
import { spanned } from '../../core/profile/spans.ts';
import { notTimed } from '../../core/stopping/work-clock.ts';
import type { SandboxIncident } from '../incident.ts';

export type Execute = Sandbox['execute'];
export type OpenSession = Sandbox['openSession'];

/** What stands between whoever asks and a backend, and sees each request. */
export interface Layer {
  execute: (next: Execute) => Execute;
  /** Left out where the layer does nothing to sessions. */
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

/** Does something around all work of a sandbox and its sessions. */
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
 * Keeps time spent here off the deadline of the plugin that waits: programs have limits of their own, and how long they
 * wait for a free worker says how busy the machine is.
 */
export const notTimedByCaller = around(notTimed);

/** Shows in a profile when the sandbox works: behind the queue, what waits for a free worker is not counted. */
export const shownInProfile = around((next) =>
  spanned({ track: 'sandbox', name: 'program or end of a session' }, next),
);

/**
 * Asks once more, of another process, when the sandbox failed itself. What fails twice stays `sandbox_error`, which no
 * reward is made of. Sessions are not asked again: their variables are gone; nor is anything once `closed` is aborted.
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
    onIncident({ kind: 'retry', message: `A program is run once more: ${why}` });
    return next(request, signal);
  },
});
