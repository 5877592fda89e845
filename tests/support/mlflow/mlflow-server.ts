import { join } from 'node:path';

import { freePort } from '../free-port.ts';
import { type RealServer, startServer } from '../real-server.ts';

/** Starts MLflow. @param folder for its data and its log, `mlflow.log` */
export async function startMlflow(python: string, folder: string): Promise<RealServer> {
  const port = await freePort();
  const database = `sqlite:///${join(folder, `mlflow-${port}.db`)}`;
  const artifacts = join(folder, `artifacts-${port}`);
  const flags = `-m mlflow server --host 127.0.0.1 --port ${port} --workers 1`.split(' ');
  flags.push('--backend-store-uri', database, '--artifacts-destination', artifacts);
  const server = startServer(`http://127.0.0.1:${port}`, {
    words: [python, ...flags],
    log: join(folder, 'mlflow.log'),
    env: { MLFLOW_DISABLE_TELEMETRY: 'true' },
  });
  await server.ready;
  return server;
}
