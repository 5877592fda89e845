import { join } from 'node:path';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';

/** What a server of the starter is given, on a port that is free. */
export const servingOptions = async (signal: AbortSignal, overrides: readonly string[] = []) => ({
  ...(await prepareRun({
    file: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    overrides: ['run.engineThreads=1', ...overrides],
  })),
  host: '127.0.0.1',
  port: 0,
  answers: 4,
  requests: 8,
  timeoutS: 60,
  acceptWeights: false,
  unsupported: 'refuse' as const,
  print: () => undefined,
  signal,
});
