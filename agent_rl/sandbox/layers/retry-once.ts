import type { SandboxIncident } from '../incident.ts';
import type { Layer } from './layer.ts';

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
