import { AgentRlError, messageOf } from '../../agent_rl/core/errors.ts';
import { startBackend } from '../../agent_rl/sandbox/choose-backend.ts';
import type { SandboxTier } from '../../agent_rl/sandbox/choose-backend.ts';
import type { SandboxIncident } from '../../agent_rl/sandbox/incident.ts';
import { behindLayers } from '../../agent_rl/sandbox/open-sandbox.ts';
import type { Sandbox } from '../../agent_rl/core/services/sandbox.ts';

export interface BackendOptions {
  workers: number;
  /** Notified of every repair of the sandbox: no program should be able to break it. */
  onIncident: (message: string) => void;
}

/** A way to start a sandbox. */
export interface Backend {
  /** As a user would name it, `pyodide` or `native:ns`. */
  name: string;
  start(options: BackendOptions): Promise<Sandbox>;
}

const tiers: readonly SandboxTier[] = ['native:ns', 'native:lite', 'pyodide'];

/** Every backend of this package, as a run uses it. */
export const packageBackends: readonly Backend[] = tiers.map((name) => ({
  name,
  start: async ({ workers, onIncident }) => {
    const repaired = ({ kind, message }: SandboxIncident): void => {
      // The sandbox sweeps leftovers of earlier processes when it starts.
      if (kind !== 'swept') onIncident(`${kind}: ${message}`);
    };
    const backend = await startBackend(name, { type: name, workers, onIncident: repaired });
    return behindLayers(backend, { workers, onIncident: repaired });
  },
}));

/** The backends that start on this machine, and why the others do not. */
export async function offered(backends: readonly Backend[]): Promise<{
  present: readonly Backend[];
  absent: readonly { name: string; why: string }[];
}> {
  const present: Backend[] = [];
  const absent: { name: string; why: string }[] = [];
  for (const backend of backends) {
    try {
      const sandbox = await backend.start({ workers: 1, onIncident: () => undefined });
      await sandbox.close();
      present.push(backend);
    } catch (error) {
      if (!AgentRlError.is(error) || error.code !== 'SANDBOX_UNAVAILABLE') throw error;
      absent.push({ name: backend.name, why: messageOf(error) });
    }
  }
  return { present, absent };
}
