import type { Sandbox } from '../../agent_rl/core/services/sandbox.ts';

export interface BackendOptions {
  readonly workers: number;
  /** Told of what the sandbox had to mend that no program should be able to break. */
  readonly onIncident: (message: string) => void;
}

/** A way to start a sandbox. */
export interface Backend {
  /** As a user would name it, `pyodide` or `native:ns`. */
  readonly name: string;
  start(options: BackendOptions): Promise<Sandbox>;
}
