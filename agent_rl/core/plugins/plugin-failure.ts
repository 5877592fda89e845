import { findSourceMap } from 'node:module';
import { isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isNativeError } from 'node:util/types';

import { messageOf, nodeCodeOf } from '../errors.ts';
import { PluginError, WrongValue } from '../failure.ts';
import { builtInSource } from './plugin.ts';
import { enterPlugin } from './entered-plugin.ts';
import { packageRoot } from '../package-root.ts';

/** Details of a plugin's call besides the plugin's name. */
export interface PluginCall {
  method?: string;
  /** Where the plugin is from, as its registry has it. */
  source?: string | undefined;
}

/**
 * An error that says which plugin failed, in which method, and where in the plugin's code; for an invalid value, in
 * which file.
 */
export function pluginFailure(
  plugin: string,
  thrown: unknown,
  { method, source }: PluginCall = {},
): PluginError {
  const file = source === undefined || source === builtInSource ? undefined : shown(source);
  const place = thrown instanceof WrongValue ? file : placeOf(thrown);
  const inMethod = method === undefined ? '' : ` in ${method}`;
  const at = place === undefined ? '' : ` (${place})`;
  const text = `${plugin} failed${inMethod}${at}: ${messagesOf(thrown)}`;
  return new PluginError(text, { cause: thrown });
}

/** Messages of an error and its causes: an error of Node's fetch alone only says that it failed. */
function messagesOf(thrown: unknown): string {
  const messages = [messageOf(thrown)];
  let cause = isNativeError(thrown) ? thrown.cause : undefined;
  // A few, since causes can be circular.
  for (let depth = 0; depth < 4 && cause !== undefined; depth++) {
    // If several addresses were tried, the error has no message.
    const message = messageOf(cause) || nodeCodeOf(cause);
    if (!messages.some((one) => one.includes(message))) messages.push(message);
    cause = isNativeError(cause) ? cause.cause : undefined;
  }
  return messages.join(': ');
}

/** Runs a plugin. @throws PluginError that names the plugin, with what it threw as the cause */
export async function runningPlugin<Value>(
  plugin: string,
  work: () => Value | Promise<Value>,
  call: PluginCall = {},
): Promise<Value> {
  const { method } = call;
  enterPlugin(method === undefined ? plugin : `${plugin} in ${method}`);
  try {
    return await work();
  } catch (thrown) {
    throw pluginFailure(plugin, thrown, call);
  }
}

interface Place {
  file: string;
  line: number;
  column: number;
}

const ownFolders = ['agent_rl', 'dataset', 'model', 'scripts', 'dist', 'node_modules'];

/**
 * `file:line:column` of the first call on an error's stack that lies outside this package, relative to the working
 * directory when it lies below it. Code of other packages counts only when there is no other.
 */
export function placeOf(thrown: unknown): string | undefined {
  if (!isNativeError(thrown)) return undefined;
  const own = ownFolders.map((folder) => join(packageRoot(), folder) + sep);
  const places = (thrown.stack ?? '')
    .split('\n')
    .flatMap((line) => placeIn(line) ?? [])
    .filter(({ file }) => !own.some((folder) => file.startsWith(folder)));
  const place = places.find(({ file }) => !file.includes('node_modules')) ?? places[0];
  if (place === undefined) return undefined;
  const { line, column } = asWritten(place);
  return `${shown(place.file)}:${line}:${column}`;
}

/** A file relative to the working directory, if it is below; a package name as it is. */
function shown(file: string): string {
  const below = isAbsolute(file) ? relative(process.cwd(), file) : file;
  return below.startsWith('..') || isAbsolute(below) ? file : below;
}

/** The file of a line such as `    at async Guess.step (file:///home/me/guess.ts:31:5)`. */
function placeIn(line: string): Place | undefined {
  const [, file = '', row, column] =
    /^\s+at (?:.*\()?(file:\/\/.+|\/.+|[A-Za-z]:\\.+):(\d+):(\d+)\)?$/.exec(line) ?? [];
  if (file === '') return undefined;
  const path = file.startsWith('file:') ? fileURLToPath(file.replace(/\?.*$/, '')) : file;
  return { file: path, line: Number(row), column: Number(column) };
}

/** The place in the source of a plugin that was compiled when it was loaded. */
function asWritten({ file, line, column }: Place): Pick<Place, 'line' | 'column'> {
  const { sourceMapsEnabled = false } = process as { sourceMapsEnabled?: boolean };
  // Then Node has looked it up already.
  if (sourceMapsEnabled) return { line, column };
  const entry = findSourceMap(pathToFileURL(file).href)?.findEntry(line - 1, column - 1);
  if (entry === undefined || !('originalLine' in entry)) return { line, column };
  return { line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}
