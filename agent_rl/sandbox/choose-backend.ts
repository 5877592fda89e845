import { AgentRlError, messageOf } from '../core/errors.ts';
import type { Sandbox } from '../core/sandbox.ts';
import type { SandboxIncident } from './incident.ts';
import { NativeSandbox } from './native/native-sandbox.ts';
import { PyodideSandbox } from './pyodide/pyodide-sandbox.ts';

export const sandboxTypes = ['auto', 'native', 'native:ns', 'native:lite', 'pyodide'] as const;

export type SandboxType = (typeof sandboxTypes)[number];

/** One backend at one level. */
export type SandboxTier = 'native:ns' | 'native:lite' | 'pyodide';

export interface BackendOptions {
  readonly type: SandboxType;
  /** Programs run at once. */
  readonly workers: number;
  /** The Python of the native backend. */
  readonly python?: string;
  /** Modules beyond the standard library; only the native backend has any. */
  readonly preload?: readonly string[];
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
};

/**
 * Starts the strongest backend that the type allows and this machine has.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE` when there is none, `CONFIG_INVALID`
 */
export async function chooseBackend(options: BackendOptions): Promise<ChosenBackend> {
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

/** @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID` */
export async function startTier(tier: SandboxTier, options: BackendOptions): Promise<Sandbox> {
  const { workers, python, preload = [], onIncident } = options;
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
