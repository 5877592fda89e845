import { existsSync, readdirSync, statSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';

import { AgentRlError } from '../../../agent_rl/core/errors.ts';
import { rowFileEndings } from './read-rows.ts';

/** Where the data is: files of this machine, or a dataset of the hub. */
export type Source = { kind: 'files'; files: readonly string[] } | { kind: 'hub'; dataset: string };

const hubPrefix = 'hub:';
const hubName = /^[\w.-]+\/[\w.-]+$/;
const endings = [...rowFileEndings, '.xml', '.txt'];

/**
 * Finds the files of a source. A path that exists is that path; `owner/name` is otherwise a dataset of the hub,
 * and `hub:owner/name` always.
 *
 * @throws AgentRlError `CONFIG_INVALID` when it is neither, or holds no file that can be read.
 */
export function findSource(source: string): Source {
  if (source.startsWith(hubPrefix)) return hubSource(source.slice(hubPrefix.length), source);
  const path = resolve(source);
  if (!existsSync(path)) return hubSource(source, source);
  const files = statSync(path).isDirectory() ? filesBelow(path) : [path];
  const known = files.filter((file) => endings.some((one) => file.toLowerCase().endsWith(one)));
  // Beside data, a text file is a licence or a readme.
  const data = known.filter((file) => extname(file).toLowerCase() !== '.txt');
  const readable = data.length > 0 ? data : known;
  if (readable.length > 0) return { kind: 'files', files: readable };
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${source} has no data file. It has ${files.length} files, but none ends in ${endings.join(', ')}.`,
  );
}

function hubSource(dataset: string, given: string): Source {
  if (hubName.test(dataset)) return { kind: 'hub', dataset };
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${given} does not exist. Give a file, a folder, or a dataset of the hub as owner/name.`,
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
}
