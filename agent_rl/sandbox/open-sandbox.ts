import type { Sandbox, SandboxLimits } from '../core/services/sandbox.ts';
import { CheckedSandbox } from './layers/checked-sandbox.ts';
import { chooseBackend } from './choose-backend.ts';
import type { BackendOptions, SandboxTier } from './choose-backend.ts';
import { IncidentLog } from './incident.ts';
import { checkedLimits, defaultLimits } from './requests/request-problems.ts';
import { QueuedSandbox } from './layers/queued-sandbox.ts';
import { RetryingSandbox } from './layers/retrying-sandbox.ts';
import { RememberingSandbox, type RememberedCounts } from './layers/remembering-sandbox.ts';

export interface OpenSandboxOptions extends Omit<BackendOptions, 'onIncident'> {
  /** Limits of a run that names none. */
  limits: SandboxLimits;
}

/** Of a run so far. */
export interface SandboxCounts extends RememberedCounts {
  /** Restarts, replays and the like; the log tells each. */
  incidents: number;
}

/** The sandbox of a run, and what was chosen. */
export interface OpenedSandbox extends Sandbox {
  tier: SandboxTier;
  /** Why stronger backends were not taken. */
  passedOver: readonly string[];
  incidents: IncidentLog;
  counts: SandboxCounts;
}

/**
 * Starts the sandbox of a run: a backend, a queue that is fair between rollouts before it, a memory of answers, and first
 * of all a look at the request, so that all of them can rely on it.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID`
 */
export async function openSandbox(options: OpenSandboxOptions): Promise<OpenedSandbox> {
  checkedLimits({ ...defaultLimits, ...options.limits });
  const incidents = new IncidentLog();
  const onIncident = incidents.add.bind(incidents);
  const { sandbox, tier, passedOver } = await chooseBackend({ ...options, onIncident });
  const retrying = new RetryingSandbox(withLimits(sandbox, options.limits), onIncident);
  const queued = new QueuedSandbox(retrying, options.workers);
  const remembering = new RememberingSandbox(queued);
  return {
    ...methodsOf(new CheckedSandbox(remembering)),
    tier,
    passedOver,
    incidents,
    get counts() {
      return { ...remembering.counts, incidents: incidents.count };
    },
  };
}

const methodsOf = (sandbox: Sandbox): Sandbox => ({
  run: (request, signal) => sandbox.run(request, signal),
  calls: (request, signal) => sandbox.calls(request, signal),
  judge: (request, signal) => sandbox.judge(request, signal),
  openSession: (request) => sandbox.openSession(request),
  capabilities: () => sandbox.capabilities(),
  close: () => sandbox.close(),
});

/** The same sandbox with something added to each request. */
function withAdded(
  sandbox: Sandbox,
  add: <Request extends object>(request: Request) => Request,
): Sandbox {
  return {
    ...methodsOf(sandbox),
    run: (request, signal) => sandbox.run(add(request), signal),
    calls: (request, signal) => sandbox.calls(add(request), signal),
    judge: (request, signal) => sandbox.judge(add(request), signal),
    openSession: (request = {}) => sandbox.openSession(add(request)),
  };
}

/** The same sandbox with limits of its own for requests that name none. */
const withLimits = (sandbox: Sandbox, limits: SandboxLimits): Sandbox =>
  withAdded(sandbox, (request) => ({
    ...request,
    limits: { ...limits, ...(request as { limits?: SandboxLimits }).limits },
  }));

/** The sandbox as one rollout sees it: its requests take turns with those of other rollouts. */
export const sandboxOf = (sandbox: Sandbox, owner: string): Sandbox =>
  withAdded(sandbox, (request) => ({ ...request, owner }));
