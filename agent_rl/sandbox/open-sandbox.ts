import type { Sandbox, SandboxLimits } from '../core/sandbox.ts';
import { PyodideSandbox } from './pyodide/pyodide-sandbox.ts';
import { RememberingSandbox } from './remembering-sandbox.ts';

export interface OpenSandboxOptions {
  /** `auto` takes the strongest backend this machine has. */
  readonly type: 'auto' | 'pyodide';
  /** Programs run at once. */
  readonly workers: number;
  /** Limits of a run that names none. */
  readonly limits: SandboxLimits;
}

/**
 * Starts the sandbox of a run.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID`
 */
export async function openSandbox({
  workers,
  limits,
}: OpenSandboxOptions): Promise<RememberingSandbox> {
  // So far one backend exists, so `auto` and its name mean the same.
  return new RememberingSandbox(withLimits(await PyodideSandbox.start({ workers }), limits));
}

/** The same sandbox with limits of its own for requests that name none. */
function withLimits(sandbox: Sandbox, limits: SandboxLimits): Sandbox {
  const limited = <Request extends { readonly limits?: SandboxLimits }>(
    request: Request,
  ): Request => ({
    ...request,
    limits: { ...limits, ...request.limits },
  });
  return {
    run: (request, signal) => sandbox.run(limited(request), signal),
    calls: (request, signal) => sandbox.calls(limited(request), signal),
    judge: (request, signal) => sandbox.judge(limited(request), signal),
    openSession: (request = {}) => sandbox.openSession(limited(request)),
    capabilities: () => sandbox.capabilities(),
    close: () => sandbox.close(),
  };
}
