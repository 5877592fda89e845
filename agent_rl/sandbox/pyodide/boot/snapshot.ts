import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { AgentRlError, messageOf } from '../../../core/errors.ts';
import type { Distribution } from './distribution.ts';
import { pythonBoot } from './python-boot.ts';
import type { SnapshotSettings } from '../protocol.ts';
import { escapedProbes } from '../../probes/probe-escapes.ts';
import { startRestricted } from './restricted-node.ts';

const files = ['glue.js', 'loader.js', 'snapshot.bin'] as const;

/** Where programs of this user keep what can be made again: below `XDG_CACHE_HOME`, or where the system has it. */
export function userCacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'agent_rl');
  if (process.platform === 'win32') {
    return join(LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'agent_rl', 'cache');
  }
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'agent_rl');
  return join(homedir(), '.cache', 'agent_rl');
}

const sizes = (folder: string): Record<string, number> =>
  Object.fromEntries(files.map((name) => [name, statSync(join(folder, name)).size]));

function isWhole(folder: string): boolean {
  const manifest = join(folder, 'manifest.json');
  if (!existsSync(manifest) || !files.every((name) => existsSync(join(folder, name)))) return false;
  const written = readFileSync(manifest, 'utf8');
  return written === JSON.stringify(sizes(folder));
}

async function build(distribution: Distribution, folder: string): Promise<void> {
  const child = startRestricted({
    path: 'boot/snapshot-main',
    settings: {
      snapshotFolder: folder,
      pyodideFolder: distribution.folder,
      boot: pythonBoot(),
    } satisfies SnapshotSettings,
    readableFolders: [distribution.folder],
    writableFolder: folder,
    dataMiB: 4000,
  });
  let stderr = '';
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (stderr = (stderr + text).slice(-2000)));
  child.stdout?.resume();
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code === 0) return;
  throw new Error(`its setup process ended with ${signal ?? `code ${code}`}: ${stderr.trim()}`);
}

async function refuseIfEscaped(distribution: Distribution, folder: string): Promise<void> {
  const escaped = await escapedProbes({
    snapshotFolder: folder,
    pyodideFolder: distribution.folder,
  });
  if (escaped.length === 0) return;
  throw new Error(`test code inside it reached the host through: ${escaped.join(', ')}`);
}

function moveInto(place: string, made: string): void {
  if (existsSync(place) && !isWhole(place)) rmSync(place, { recursive: true, force: true });
  try {
    renameSync(made, place);
  } catch (error) {
    // Another process was faster: its folder is as good as ours.
    if (!isWhole(place)) throw error;
    rmSync(made, { recursive: true, force: true });
  }
}

let attempts = 0;

/**
 * The folder of the snapshot for this pyodide and this Node, made and attacked on first use. It is written
 * aside and renamed, so several processes may make it at the same time.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE` when it cannot be made or an escape probe succeeds.
 */
export async function ensureSnapshot(
  distribution: Distribution,
  cacheFolder: string,
): Promise<string> {
  const place = join(cacheFolder, distribution.key);
  if (isWhole(place)) return place;
  const aside = `${place}.${process.pid}-${attempts++}.partial`;
  try {
    mkdirSync(aside, { recursive: true });
  } catch (cause) {
    throw unprepared(cacheFolder, cause);
  }
  try {
    await build(distribution, aside);
    await refuseIfEscaped(distribution, aside);
    writeFileSync(join(aside, 'manifest.json'), JSON.stringify(sizes(aside)));
    moveInto(place, aside);
    return place;
  } catch (cause) {
    rmSync(aside, { recursive: true, force: true });
    throw unprepared(cacheFolder, cause);
  }
}

const unprepared = (cacheFolder: string, cause: unknown): AgentRlError =>
  new AgentRlError(
    'SANDBOX_UNAVAILABLE',
    `The Python sandbox could not be prepared in ${cacheFolder}: ${messageOf(cause)}. Make the folder writable, or set the environment variable XDG_CACHE_HOME to another folder.`,
    { cause },
  );
