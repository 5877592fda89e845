import { availableParallelism } from 'node:os';

import type { Config } from '../config/index.ts';
import {
  openSandbox,
  type OpenedSandbox,
  type OpenSandboxOptions,
} from '../sandbox/open-sandbox.ts';
import { abortableStart } from '../core/stopping/abort.ts';

/** Sandbox processes that a config asks for. */
export const sandboxWorkers = ({ sandbox }: Config): number =>
  sandbox.workers ?? availableParallelism();

/** The sandbox that a config asks for. @throws AgentRlError `SANDBOX_UNAVAILABLE`, `INTERRUPTED` */
export function openRunSandbox(config: Config, signal: AbortSignal): Promise<OpenedSandbox> {
  const opening = openSandbox(sandboxOptions(config));
  return abortableStart(opening, signal, (late) => late.close());
}

/** The settings of a run that reach its sandbox. */
export function sandboxOptions(config: Config): OpenSandboxOptions {
  const { type, python, preload, url, tokenEnv, caFile, wallS, memoryMiB } = config.sandbox;
  return {
    type,
    preload,
    ...(python !== undefined && { python }),
    ...(url !== undefined && { url }),
    ...(tokenEnv !== undefined && { tokenEnv }),
    ...(caFile !== undefined && { caFile }),
    workers: sandboxWorkers(config),
    limits: { wallS, memoryMiB },
  };
}
