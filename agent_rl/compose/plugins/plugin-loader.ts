import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { PluginRequest } from '../../config/index.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { withDeadline, throwIfStopped } from '../../core/stopping/abort.ts';
import { registerPluginHooks } from '../../threads/plugin-hooks.ts';
import { packageScheme } from '../../threads/plugin-package-scheme.ts';
import { kindNames, kindOf, type Plugins } from './kinds.ts';
import { isPlugin, withExports } from './registries.ts';
import { watchImport } from './watch-import.ts';

const isFile = ({ specifier }: PluginRequest): boolean => isAbsolute(specifier);

const nameOf = ({ specifier, namedBy }: PluginRequest): string =>
  `Plugin ${specifier} (named by ${namedBy})`;

const failed = (request: PluginRequest, problem: string, cause?: unknown) =>
  new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `${nameOf(request)} ${problem}`,
    cause === undefined ? undefined : { cause },
  );

/** What to import: a file by its address, a package as seen from the working directory and then the config. */
function addressOf(request: PluginRequest): string {
  if (isFile(request)) return pathToFileURL(request.specifier).href;
  const parents = [process.cwd(), request.folder].map(
    (folder) => pathToFileURL(join(folder, 'plugins')).href,
  );
  return packageScheme + [request.specifier, ...parents].map(encodeURIComponent).join('|');
}

/** Keeps the source maps of imports, so that failures name the user's own lines. */
async function importMapped(address: string): Promise<Record<string, unknown>> {
  const { sourceMapsEnabled = false } = process as { sourceMapsEnabled?: boolean };
  // Not for longer: the maps of large packages take seconds to read.
  process.setSourceMapsEnabled(true);
  try {
    return (await import(address)) as Record<string, unknown>;
  } finally {
    process.setSourceMapsEnabled(sourceMapsEnabled);
  }
}

async function exportsOf(
  request: PluginRequest,
  seconds: number,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  if (isFile(request) && !existsSync(request.specifier)) {
    const { folder } = request;
    const place = folder === process.cwd() ? 'the working directory' : 'where it is named';
    throw failed(request, `does not exist. A name with ./ is relative to ${folder}, ${place}.`);
  }
  try {
    const load = async () =>
      withDeadline(async () => importMapped(addressOf(request)), { seconds, signal });
    const loaded = await watchImport(load, { what: nameOf(request), seconds });
    if (loaded !== 'timeout') return Object.values(loaded.value);
  } catch (cause) {
    throwIfStopped(signal);
    if (!isFile(request) && existsSync(join(request.folder, request.specifier))) {
      const file = `./${request.specifier}`;
      throw failed(request, `is a file, but was given as a package name. Write ${file} instead.`);
    }
    throw failed(
      request,
      `could not be loaded: ${messageOf(cause)}. ${hintOn(request, cause)}`,
      cause,
    );
  }
  throw failed(
    request,
    `did not load within ${seconds} s, because a top-level await does not finish. Start such work in a call, or give it a deadline.`,
  );
}

function hintOn(request: PluginRequest, cause: unknown): string {
  if (/'agent_rl' does not provide an export/.test(messageOf(cause)))
    return "Import the plugin API from 'agent_rl/plugin'.";
  return isFile(request)
    ? 'Fix the file, or remove it from `plugins:`.'
    : 'Install the package. To load a file, start its path with ./.';
}

const startUpS = 30;

export interface LoadPluginsOptions {
  /** For each plugin. */
  seconds?: number;
  signal?: AbortSignal;
}

/**
 * The registries with the plugins that each requested package or file exports. Every marked export is a plugin.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED`, `PLUGIN_DUPLICATE`, `INTERRUPTED`
 */
export async function loadPlugins(
  requests: readonly PluginRequest[],
  known: Plugins,
  { seconds = startUpS, signal = new AbortController().signal }: LoadPluginsOptions = {},
): Promise<Plugins> {
  if (requests.length > 0) registerPluginHooks();
  let plugins = known;
  for (const request of requests) {
    const found = (await exportsOf(request, seconds, signal)).filter(isPlugin);
    if (found.length === 0) {
      throw failed(
        request,
        `exports no plugin. Export a class marked with @tool or @environment, a function marked with reward(…), or another kind: ${kindNames.map((name) => kindOf(name).kind.kind).join(', ')}.`,
      );
    }
    plugins = withExports(plugins, found, request.specifier);
  }
  return plugins;
}
