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
