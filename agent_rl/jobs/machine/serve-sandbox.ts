import { once } from 'node:events';

import { secretOf } from '../../core/wire/secret-of.ts';
import { readCertificate } from '../../http/authorities.ts';
import { chooseBackend } from '../../sandbox/choose-backend.ts';
import { behindLayers } from '../../sandbox/open-sandbox.ts';
import { serveSandbox as serve } from '../../sandbox/remote/serve-sandbox.ts';
import { countText } from '../../telemetry/figures.ts';
import type { JobContext, JobResult } from '../job.ts';
import type { LocalSandboxType } from './local-sandbox-type.ts';

export interface ServeSandboxOptions extends JobContext {
  type: LocalSandboxType;
  python?: string;
  preload: readonly string[];
  workers: number;
  host: string;
  port: number;
  /** Environment variable that holds what callers have to show. */
  tokenEnv?: string;
  /** PEM files of a certificate and its key, for `https:`; both or neither. */
  tlsCert?: string;
  tlsKey?: string;
  /** Notified of what went wrong and was repaired, or was not. */
  warn: (text: string) => void;
}

/**
 * Serves a sandbox of this machine until the signal is aborted; how many requests were answered with which status.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID`
 */
export async function serveSandbox(options: ServeSandboxOptions): Promise<JobResult> {
  const { host, port, tokenEnv, tlsCert, tlsKey, signal, print, warn, ...wanted } = options;
  const certificate = readCertificate(tlsCert, tlsKey);
  const { workers } = wanted;
  const token =
    tokenEnv === undefined
      ? {}
      : { token: secretOf(tokenEnv, { user: "The sandbox's server", fewestChars: 8 }) };
  const onIncident = ({ message }: { message: string }): void => warn(message);
  const { sandbox, tier, skipped } = await chooseBackend({ ...wanted, onIncident });
  const checked = behindLayers(sandbox, { workers, onIncident });
  try {
    const server = await serve(checked, {
      host,
      port,
      ...token,
      ...(certificate && { certificate }),
      onFailure: warn,
    });
    try {
      for (const why of skipped) print(`Skipped: ${why}`);
      const { level, python } = checked.capabilities();
      print(
        `Sandbox ${level}, Python ${python}, ${countText(workers, 'program')} in parallel, at ${server.url}. POST /run_code accepts SandboxFusion requests.`,
      );
      if (!signal.aborted) await once(signal, 'abort');
      return { url: server.url, tier, answers: server.counts };
    } finally {
      await server.close();
    }
  } finally {
    await checked.close();
  }
}
