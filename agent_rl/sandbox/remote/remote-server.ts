import type { Sandbox, SandboxCapabilities } from '../../core/services/sandbox.ts';

/**
 * A kind of server, as the remote sandbox uses it. Its methods throw `NoAnswer`, and AgentRlError `SANDBOX_UNAVAILABLE` for
 * what the server cannot do.
 */
export interface RemoteServer extends Pick<Sandbox, 'execute' | 'openSession'> {
  facts: Omit<SandboxCapabilities, 'backend' | 'concurrency'>;
}
