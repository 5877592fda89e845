import { afterAll, beforeAll } from '@jest/globals';

import type { Sandbox } from '../../agent_rl/core/sandbox.ts';
import { PyodideSandbox } from '../../agent_rl/sandbox/pyodide/pyodide-sandbox.ts';

/** A real sandbox for the tests of one file; its snapshot is kept between runs in the user's cache folder. */
export function startedSandbox({ workers = 1 } = {}): () => Sandbox {
  let sandbox: PyodideSandbox | undefined;
  beforeAll(async () => {
    sandbox = await PyodideSandbox.start({ workers, limits: { wallS: 5, memoryMiB: 256 } });
  }, 60_000);
  afterAll(async () => sandbox?.close());
  return () => {
    if (sandbox === undefined) throw new Error('The sandbox has not started yet.');
    return sandbox;
  };
}
