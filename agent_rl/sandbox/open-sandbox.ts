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

/** Of a run so far. */
export interface SandboxCounts extends RememberedCounts {
  /** Restarts, replays and the like; the log reports each. */
  incidents: number;
}

/** The sandbox of a run, and what was chosen. */
export interface OpenedSandbox extends Sandbox {
  tier: SandboxTier;
  /** Why stronger backends were not taken. */
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
  /** Limits of a request that names none; those left out are the backend's. */
  limits?: SandboxLimits;
  /** Answers equal requests; without one each is run. */
  memory?: RememberedResults;
  /** Notified of each request that is made once more. */
  onIncident?: (incident: SandboxIncident) => void;
}

/**
 * The one door to a backend: a look at the request, on which all that follows relies, a memory of answers, a queue that is
 * fair between rollouts, one more try where the sandbox failed, and limits for those who name none.
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

/** The sandbox as one rollout sees it: its requests take turns with those of other rollouts. */
export const sandboxOf = (sandbox: Sandbox, owner: string): Sandbox =>
  layered(sandbox, [addOwner(owner), notTimedByCaller]);
