import { AgentRlError, messageOf } from '../core/errors.ts';
import type { Sandbox } from '../core/sandbox.ts';
import type { SandboxIncident } from './incident.ts';
import { NativeSandbox } from './native/native-sandbox.ts';
import { RemoteSandbox } from './remote/remote-sandbox.ts';
import { PyodideSandbox } from './pyodide/pyodide-sandbox.ts';

export type SandboxType = 'auto' | 'native' | 'native:ns' | 'native:lite' | 'pyodide' | 'remote';

/** One backend at one level. */
export type SandboxTier = 'native:ns' | 'native:lite' | 'pyodide' | 'remote';

export interface BackendOptions {
  readonly type: SandboxType;
  /** Programs run at once. */
  readonly workers: number;
  /** The Python of the native backend. */
  readonly python?: string;
  /** Modules beyond the standard library; only the native backend has any. */
  readonly preload?: readonly string[];
  /** Address of the server of the remote backend. */
  readonly url?: string;
  /** Environment variable that holds the server's token. */
  readonly tokenEnv?: string;
  readonly onIncident?: (incident: SandboxIncident) => void;
}

/** A backend that started, and why stronger ones did not. */
export interface ChosenBackend {
  readonly tier: SandboxTier;
  readonly sandbox: Sandbox;
  readonly passedOver: readonly string[];
}

/** What each type stands for, strongest first. A type that names one level never becomes another. */
const tiersOf: Readonly<Record<SandboxType, readonly SandboxTier[]>> = {
  auto: ['native:ns', 'native:lite', 'pyodide'],
  native: ['native:ns', 'native:lite'],
  'native:ns': ['native:ns'],
  'native:lite': ['native:lite'],
  pyodide: ['pyodide'],
  remote: ['remote'],
};

/**
 * Starts the strongest backend that the type allows and this machine has.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE` when there is none, `CONFIG_INVALID`
 */
export async function chooseBackend(options: BackendOptions): Promise<ChosenBackend> {
  refuseIdle(options);
  const passedOver: string[] = [];
  for (const tier of tiersOf[options.type]) {
    try {
      return { tier, sandbox: await startTier(tier, options), passedOver };
    } catch (error) {
      if (!AgentRlError.is(error) || error.code !== 'SANDBOX_UNAVAILABLE') throw error;
      passedOver.push(messageOf(error));
    }
  }
  throw new AgentRlError(
    'SANDBOX_UNAVAILABLE',
    `No sandbox of type ${options.type} can be had: ${passedOver.join(' ')}`,
  );
}

/** @throws AgentRlError `CONFIG_INVALID` for what the type has no use for, and for what it lacks */
function refuseIdle({ type, url, tokenEnv, python, preload = [] }: BackendOptions): void {
  const remote = type === 'remote';
  const idle = remote
    ? { python, preload: preload.length > 0 ? preload : undefined }
    : { url, tokenEnv };
  const [name] = Object.entries(idle).find(([, value]) => value !== undefined) ?? [];
  if (name !== undefined) {
    const instead = remote ? 'Start the server with it' : 'Set sandbox.type to remote';
    throw new AgentRlError(
      'CONFIG_INVALID',
      `sandbox.${name} has no effect with sandbox.type ${type}. ${instead}, or leave it out.`,
    );
  }
  if (!remote || url !== undefined) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    'sandbox.type is remote and sandbox.url is not set. Give the address of a server, such as http://127.0.0.1:8080.',
  );
}

/** @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID` */
export async function startTier(tier: SandboxTier, options: BackendOptions): Promise<Sandbox> {
  const { workers, python, preload = [], url = '', tokenEnv, onIncident } = options;
  if (tier === 'remote') {
    return RemoteSandbox.start({
      url,
      workers,
      ...(tokenEnv !== undefined && { tokenEnv }),
      ...(onIncident && { onIncident }),
    });
  }
  if (tier === 'pyodide') {
    if (preload.length === 0) return PyodideSandbox.start({ workers });
    throw new AgentRlError(
      'SANDBOX_UNAVAILABLE',
      `sandbox.preload names ${preload.join(', ')}, which pyodide does not have: it has the standard library only.`,
    );
  }
  return NativeSandbox.start({
    level: tier === 'native:ns' ? 'ns' : 'lite',
    preload,
    ...(python !== undefined && { python }),
    ...(onIncident && { onIncident }),
  });
}
