import { sandboxProblems } from '../config/index.ts';
import { AgentRlError, messageOf } from '../core/errors.ts';
import type { Sandbox } from '../core/services/sandbox.ts';
import type { SandboxIncident } from './incident.ts';
import { NativeSandbox } from './native/native-sandbox.ts';
import { RemoteSandbox } from './remote/remote-sandbox.ts';
import { PyodideSandbox } from './pyodide/pyodide-sandbox.ts';

/** One backend at one level. */
export type SandboxTier = 'native:ns' | 'native:lite' | 'pyodide' | 'remote';

export type SandboxType = 'auto' | 'native' | SandboxTier;

export interface BackendOptions {
  type: SandboxType;
  /** Programs run at once. */
  workers: number;
  /** The Python of the native backend. */
  python?: string;
  /** Modules beyond the standard library; only the native backend has any. */
  preload?: readonly string[];
  /** Address of the remote backend's server, or the addresses of several equivalent servers. */
  url?: string | readonly string[];
  /** Environment variable that holds the servers' token. */
  tokenEnv?: string;
  /** PEM file of certificate authorities to trust in addition to the usual ones. */
  caFile?: string;
  onIncident?: (incident: SandboxIncident) => void;
}

/** A backend that started, and why stronger ones were skipped. */
export interface ChosenBackend {
  tier: SandboxTier;
  sandbox: Sandbox;
  skipped: readonly string[];
}

/** What a type stands for, strongest first. A type that names one level never becomes another. */
function tiersOf(type: SandboxType): readonly SandboxTier[] {
  if (type === 'auto') return ['native:ns', 'native:lite', 'pyodide'];
  return type === 'native' ? ['native:ns', 'native:lite'] : [type];
}

/**
 * Starts the strongest backend that the type allows and this machine has. The backend does not check its requests;
 * `behindLayers` does that first.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE` when no backend starts, `CONFIG_INVALID`
 */
export async function chooseBackend(options: BackendOptions): Promise<ChosenBackend> {
  refuseWrong(options);
  const skipped: string[] = [];
  for (const tier of tiersOf(options.type)) {
    try {
      return { tier, sandbox: await startBackend(tier, options), skipped };
    } catch (error) {
      if (!AgentRlError.is(error) || error.code !== 'SANDBOX_UNAVAILABLE') throw error;
      const why = messageOf(error).replaceAll(/\s+/g, ' ');
      // Both levels of the native backend usually fail for the same reason.
      if (!skipped.includes(why)) skipped.push(why);
    }
  }
  throw new AgentRlError(
    'SANDBOX_UNAVAILABLE',
    `No sandbox of type ${options.type} is available: ${skipped.join(' ')}${options.type === 'remote' ? '' : ' Run `agent-rl sandbox doctor` to see what each backend needs.'}`,
  );
}

/** @throws AgentRlError `CONFIG_INVALID` for unused or missing settings and for an invalid worker count */
function refuseWrong(options: BackendOptions): void {
  const { workers } = options;
  const problems: string[] = sandboxProblems(options).map(
    ({ setting, text }) => `sandbox.${setting} ${text}`,
  );
  if (!Number.isInteger(workers) || workers < 1) {
    problems.push(`sandbox.workers is ${workers}; it must be a whole number of at least 1.`);
  }
  if (problems.length > 0) throw new AgentRlError('CONFIG_INVALID', problems.join(' '));
}

/**
 * Starts one backend, which relies on checked requests.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID`
 */
export async function startBackend(tier: SandboxTier, options: BackendOptions): Promise<Sandbox> {
  const { workers, preload = [], url = '' } = options;
  if (tier === 'remote') return RemoteSandbox.start({ ...options, url });
  if (tier === 'pyodide') {
    if (preload.length === 0) return PyodideSandbox.start({ workers });
    throw new AgentRlError(
      'SANDBOX_UNAVAILABLE',
      `sandbox.preload lists ${preload.join(', ')}, but pyodide has only the standard library. Remove sandbox.preload or use sandbox.type native.`,
    );
  }
  return NativeSandbox.start({ ...options, level: tier === 'native:ns' ? 'ns' : 'lite' });
}
