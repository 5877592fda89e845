import type { Sandbox, SandboxLimits } from '../core/services/sandbox.ts';
import { chooseBackend } from './choose-backend.ts';
import type { BackendOptions, SandboxTier } from './choose-backend.ts';
import { EventLog } from '../core/services/event-log.ts';
import type { SandboxIncident } from './incident.ts';
import { checkRequests } from './layers/check-requests.ts';
import {
  addLimits,
  addOwner,
  layered,
  notTimedByCaller,
  shownInProfile,
  retryOnce,
} from './layers/layer.ts';
import { RememberedResults, type RememberedCounts } from './layers/remember-results.ts';
import { FairQueue, takeTurns } from './layers/take-turns.ts';
import { checkLimits } from './requests/request-problems.ts';

export interface OpenSandboxOptions extends Omit<BackendOptions, 'onIncident'> {
  /** Limits of a run that names none. */
  limits: SandboxLimits;
}

/** Counts of the run so far. */
export interface SandboxCounts extends RememberedCounts {
  /** Restarts, replays and the like; the log reports each. */
  incidents: number;
}

/** The sandbox of a run and the backend that was chosen for it. */
export interface OpenedSandbox extends Sandbox {
  tier: SandboxTier;
  /** Why stronger backends were skipped. */
  skipped: readonly string[];
  incidents: EventLog<SandboxIncident>;
  counts: SandboxCounts;
}

/**
 * Starts the sandbox of a run: the strongest backend that the type allows, behind its layers.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID`
 */
export async function openSandbox(options: OpenSandboxOptions): Promise<OpenedSandbox> {
  const { limits, workers } = options;
  checkLimits(limits);
  const incidents = new EventLog<SandboxIncident>();
  const onIncident = incidents.add.bind(incidents);
  const { sandbox, tier, skipped } = await chooseBackend({ ...options, onIncident });
  const memory = new RememberedResults();
  return {
    ...behindLayers(sandbox, { workers, limits, memory, onIncident }),
    tier,
    skipped,
    incidents,
    get counts() {
      return { ...memory.counts, incidents: incidents.all.length };
    },
  };
}

export interface LayerOptions {
  /** Programs run at once; the others wait. */
  workers: number;
  /** Limits for requests that set none; limits left out here are the backend's. */
  limits?: SandboxLimits;
  /** Answers repeated requests; without it every request is run. */
  memory?: RememberedResults;
  /** Notified of each request that is retried. */
  onIncident?: (incident: SandboxIncident) => void;
}

/**
 * The only way to a backend. Layers check the request, answer repeated requests from memory, queue fairly between
 * rollouts, retry once when the sandbox itself failed, and add default limits.
 */
export function behindLayers(backend: Sandbox, options: LayerOptions): Sandbox {
  const { workers, limits = {}, memory, onIncident = () => undefined } = options;
  const closed = new AbortController();
  const sandbox = layered(backend, [
    checkRequests(backend.capabilities().level),
    ...(memory === undefined ? [] : [memory]),
    takeTurns(new FairQueue(workers)),
    shownInProfile,
    retryOnce({ onIncident, closed: closed.signal }),
    addLimits(limits),
  ]);
  return {
    ...sandbox,
    capabilities: () => ({ ...backend.capabilities(), concurrency: workers }),
    close: () => {
      closed.abort();
      return backend.close();
    },
  };
}

/** The sandbox as one rollout sees it: its requests take turns with other rollouts' requests. */
export const sandboxOf = (sandbox: Sandbox, owner: string): Sandbox =>
  layered(sandbox, [addOwner(owner), notTimedByCaller]);
