import { PyodideSandbox } from '#agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { sandboxContract } from '#tests/support/sandbox-contract.ts';

sandboxContract('pyodide', () => PyodideSandbox.start({ workers: 2 }));
