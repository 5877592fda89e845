import { PyodideSandbox } from '../../../../../agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { QueuedSandbox } from '../../../../../agent_rl/sandbox/queued-sandbox.ts';
import { sandboxContract } from '../../../../support/sandbox-contract.ts';

sandboxContract('pyodide', async () => {
  const limits = { wallS: 3, memoryMiB: 256 };
  return new QueuedSandbox(await PyodideSandbox.start({ workers: 2, limits }), 2);
});
