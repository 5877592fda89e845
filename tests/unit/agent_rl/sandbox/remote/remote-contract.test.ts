import { afterAll, beforeAll } from '@jest/globals';

import { PyodideSandbox } from '../../../../../agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { QueuedSandbox } from '../../../../../agent_rl/sandbox/layers/queued-sandbox.ts';
import { RemoteSandbox } from '../../../../../agent_rl/sandbox/remote/remote-sandbox.ts';
import {
  type SandboxServer,
  serveSandbox,
} from '../../../../../agent_rl/sandbox/remote/serve-sandbox.ts';
import { sandboxContract } from '../../../../support/sandbox-contract.ts';
import { unhurriedLimits } from '../../../../support/sandbox-limits.ts';

let local: QueuedSandbox;
let server: SandboxServer;

beforeAll(async () => {
  local = new QueuedSandbox(await PyodideSandbox.start({ workers: 2, limits: unhurriedLimits }), 2);
  server = await serveSandbox(local, { host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server.close();
  await local.close();
});

sandboxContract('pyodide behind a server', () =>
  RemoteSandbox.start({ url: server.url, workers: 8 }),
);
