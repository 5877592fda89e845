import { existsSync } from 'node:fs';
import { extname, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

import { AgentRlError, messageOf, type ErrorCode } from '../core/errors.ts';
import { packageRoot } from '../core/package-root.ts';

export interface ThreadStart {
  /** The module the thread runs. */
  entry: URL;
  /** Handed to the thread, copied. */
  data?: unknown;
  maxHeapMiB?: number;
  /** Its environment variables; none by default. */
  env?: Readonly<Record<string, string>>;
}

/** Module hooks a thread registers before it imports a plugin, which main-thread ones do not reach. */
export interface ModuleHooks {
  url: string;
  /** Given to the hooks' `initialize`. */
  data?: unknown;
}

/** Starts a thread, with none of this process's environment variables and options. */
export const startThread = ({ entry, data, maxHeapMiB, env = {} }: ThreadStart): Worker =>
  new Worker(compiledTwin(entry), {
    workerData: data,
    env: { ...env },
    execArgv: [],
    resourceLimits: maxHeapMiB === undefined ? {} : { maxOldGenerationSizeMb: maxHeapMiB },
  });

/** The module `name` beside the one at `base`, in the same language: TypeScript beside sources, otherwise JavaScript. */
export const moduleBeside = (base: string, name: string): URL =>
  new URL(`./${name}${extname(base)}`, base);

/**
 * The compiled twin of a source file of this package: a thread runs JavaScript only, while tests run from sources.
 * Anything that is not a source file of this package is left as it is.
 */
export function compiledTwin(url: URL): URL {
  if (!url.pathname.endsWith('.ts')) return url;
  const root = packageRoot();
  const path = relative(root, fileURLToPath(url));
  const twin = resolve(root, 'dist', path.replace(/\.ts$/, '.js'));
  return existsSync(twin) ? pathToFileURL(twin) : url;
}

/** An error as it crosses threads, its code kept. */
export interface SentError {
  code: ErrorCode | undefined;
  message: string;
  stack: string | undefined;
}

export const toSentError = (thrown: unknown): SentError => ({
  code: AgentRlError.is(thrown) ? thrown.code : undefined,
  message: messageOf(thrown),
  stack: thrown instanceof Error ? thrown.stack : undefined,
});

export function fromSentError({ code, message, stack }: SentError): Error {
  if (code !== undefined) return new AgentRlError(code, message);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
