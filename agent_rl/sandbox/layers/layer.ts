import type { Sandbox } from '../../core/services/sandbox.ts';

export type Execute = Sandbox['execute'];
export type OpenSession = Sandbox['openSession'];

/** What stands between whoever asks and a backend, and sees each request. */
export interface Layer {
  execute: (next: Execute) => Execute;
  /** Left out where a session is no affair of the layer. */
  openSession?: (next: OpenSession) => OpenSession;
}

/** A sandbox behind layers, the first outermost. */
export function layered(sandbox: Sandbox, layers: readonly Layer[]): Sandbox {
  const execute = layers.reduceRight<Execute>(
    (next, layer) => layer.execute(next),
    (request, signal) => sandbox.execute(request, signal),
  );
  const openSession = layers.reduceRight<OpenSession>(
    (next, layer) => layer.openSession?.(next) ?? next,
    (request) => sandbox.openSession(request),
  );
  return {
    execute,
    openSession,
    capabilities: () => sandbox.capabilities(),
    close: () => sandbox.close(),
  };
}
