import { PyodideSandbox } from '../../../../../agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { QueuedSandbox } from '../../../../../agent_rl/sandbox/layers/queued-sandbox.ts';
import { sandboxContract } from '../../../../support/sandbox-contract.ts';
import { unhurriedLimits } from '../../../../support/sandbox-limits.ts';

sandboxContract('pyodide', async () => {
  const started = await PyodideSandbox.start({ workers: 2, limits: unhurriedLimits });
  return new QueuedSandbox(started, 2);
});
