import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';

import { freePort } from '../free-port.ts';

/** A real MLflow server on the loopback address. */
export interface MlflowServer {
  url: string;
  /** Ends it and the processes that it started, at once. */
  kill(): void;
}

/** @param folder for its data and its log, `mlflow.log` */
export async function startMlflow(python: string, folder: string): Promise<MlflowServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(join(folder, 'mlflow.log'), 'a');
  const database = `sqlite:///${join(folder, `mlflow-${port}.db`)}`;
  const artifacts = join(folder, `artifacts-${port}`);
  const server = `-m mlflow server --host 127.0.0.1 --port ${port} --workers 1`.split(' ');
  server.push('--backend-store-uri', database, '--artifacts-destination', artifacts);
  const env = { ...process.env, MLFLOW_DISABLE_TELEMETRY: 'true' };
  // In a group of its own, so that its workers are ended with it.
  const child = spawn(python, server, { env, detached: true, stdio: ['ignore', log, log] });
  let running = true;
  child.once('exit', () => (running = false));
  const kill = (): void => {
    if (!running || child.pid === undefined) return;
    running = false;
    process.kill(-child.pid, 'SIGKILL');
  };
  for (let tries = 0; tries < 240; tries++) {
    const up = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (up) return { url, kill };
    if (!running) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  kill();
  throw new Error(`MLflow does not start: see ${join(folder, 'mlflow.log')}`);
}
