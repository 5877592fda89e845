import { fork } from 'node:child_process';
import { join } from 'node:path';

import { packageRoot } from '../../core/package-root.ts';
import type { DeviceReport } from '../../engine/open-engine.ts';
import { withoutSecrets } from '../../telemetry/redact.ts';

/**
 * Every device and whether it works here, tried in a process of its own. What drivers write there is not shown: each
 * report says what is missing.
 *
 * @throws Error when that process ended before it could report
 */
export async function tryDevices(
  file = join(packageRoot(), 'dist/agent_rl/jobs/machine/device-process.js'),
): Promise<readonly DeviceReport[]> {
  const child = fork(file, {
    env: withoutSecrets(process.env),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let written = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (written += text));
  return new Promise((resolve, reject) => {
    let reports: readonly DeviceReport[] | undefined;
    child.on('message', (sent) => (reports = sent as readonly DeviceReport[]));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (reports !== undefined) resolve(reports);
      else reject(new Error(`the device test ended with ${signal ?? code}: ${written.trim()}`));
    });
  });
}
