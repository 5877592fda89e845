import { afterAll, beforeAll } from '@jest/globals';

import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { PyodideSandbox } from '#agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { unhurried } from './sandbox-limits.ts';

/** A real sandbox for the tests of one file; its snapshot is kept between runs in the user's cache folder. */
export function startedSandbox({ workers = 1 } = {}): () => Sandbox {
  let sandbox: Sandbox | undefined;
  beforeAll(async () => {
    sandbox = unhurried(await PyodideSandbox.start({ workers }), workers);
  });
  afterAll(async () => sandbox?.close());
  return () => {
    if (sandbox === undefined) throw new Error('The sandbox has not started yet.');
    return sandbox;
  };
}
