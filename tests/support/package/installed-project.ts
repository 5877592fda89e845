import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readJson } from '../acme-project.ts';
import { type Ended, nodeProgram } from '../built-program.ts';
import { writeBelow } from '../temporary-folder.ts';
import { derivedLock, type Locked, type PackageLock } from './derived-lock.ts';

export type Packed = ReturnType<typeof packPackage>;

/** What npm tells the programs it starts is about this repository, not about what is run in another folder. */
function environment(offline = true): NodeJS.ProcessEnv {
  const own =
    /^(?:npm_(?:package|lifecycle|node|command)_?|npm_config_(?:local_)?prefix$|INIT_CWD$|NODE_ENV$|JEST)/;
  const kept = Object.entries(process.env).filter(([name]) => !own.test(name));
  const quiet = { npm_config_offline: 'true', npm_config_update_notifier: 'false' };
  return { ...Object.fromEntries(kept), ...(offline && quiet) };
}

/** Runs a command line in a folder; npm does not ask the network. */
export const inShell = (command: string, cwd: string): Ended =>
  ended(command, { cwd, timeout: 300_000, shell: true, env: environment() });

/** Runs a command line in a folder, with the network. @throws Error when it fails */
export function shell(command: string, cwd: string): void {
  const { code, stdout, stderr } = ended(command, {
    cwd,
    timeout: 3_600_000,
    shell: true,
    env: environment(false),
  });
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${stdout}${stderr}`);
}

function ended(command: string, options: SpawnSyncOptions): Ended {
  const { status, stdout, stderr } = spawnSync(command, { ...options, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

/**
 * Runs command lines `npx agent-rl …` one after the other in one process of the installed package: starting each by
 * itself takes longer than most of them. None may have quotes.
 */
export function runTogether(commands: readonly string[], cwd: string) {
  const program = join(cwd, 'run-together.mjs');
  cpSync(join(packageRoot(), 'tests/fixtures/programs/run-together.mjs'), program);
  const lines = commands.map((command) => command.replace(/^npx agent-rl /, '').split(/ +/));
  const { code, stdout, stderr } = nodeProgram(
    [program, JSON.stringify(lines)],
    cwd,
    environment(),
    300_000,
  );
  if (code !== 0) throw new Error(`The commands did not all end:\n${stdout}${stderr}`);
  const all = JSON.parse(stdout) as { code: number; stderr: string }[];
  return all.map(({ code: exit, stderr: wrote }, index) => {
    return { command: commands[index]!, code: exit, stderr: wrote };
  });
}

/** What `npm publish` would send. `npm test` builds it first. */
export function packPackage(folder: string) {
  const command = `npm pack --ignore-scripts --json --pack-destination "${folder}"`;
  const { code, stdout, stderr } = inShell(command, packageRoot());
  if (code !== 0) throw new Error(`npm pack failed:\n${stderr}`);
  interface Listed {
    filename: string;
    files: { path: string }[];
    unpackedSize: number;
  }
  const [listed] = Object.values(JSON.parse(stdout) as Record<string, Listed>);
  if (listed === undefined) throw new Error(`npm pack listed nothing:\n${stdout}`);
  const { filename, files, unpackedSize } = listed;
  return { tarball: join(folder, filename), files: files.map(({ path }) => path), unpackedSize };
}

/**
 * Makes a folder a project that has installed the package and some of our development tools: from the tarball, a lock
 * file derived from ours and npm's cache, which `npm ci` in the repository has filled.
 */
export function installProject(folder: string, { tarball }: Packed, tools: string[]): void {
  const own = readJson(packageRoot(), 'package.json') as Locked;
  const ours = readJson(packageRoot(), 'package-lock.json') as unknown as PackageLock;
  const versionOf = (name: string): string => {
    const version = ours.packages[`node_modules/${name}`]?.version;
    if (version === undefined) throw new Error(`package-lock.json has no ${name}.`);
    return version;
  };
  const resolved = `file:${tarball}`;
  const project = {
    name: 'installed-project',
    version: '1.0.0',
    private: true,
    type: 'module',
    dependencies: { agent_rl: resolved },
    devDependencies: Object.fromEntries(tools.map((name) => [name, versionOf(name)])),
    // What our own versions rest on.
    overrides: own['overrides'],
    // As README advises.
    allowScripts: { 'onnxruntime-node': false },
  };
  const integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
  const kept = /^(?:version|bin|(?:optionalD|peerD|d)ependencies|peerDependenciesMeta)$/;
  const said = Object.entries(own).filter(([name]) => kept.test(name));
  const entry = { ...Object.fromEntries(said), resolved, integrity };
  const lock = derivedLock(ours, project, entry);
  writeBelow(folder, 'package.json', JSON.stringify(project, undefined, 2));
  writeBelow(folder, 'package-lock.json', JSON.stringify(lock, undefined, 2));
  const { code, stderr } = inShell('npm ci --ignore-scripts --no-audit --no-fund', folder);
  if (code !== 0) throw new Error(installFailed(stderr));
}

const installFailed = (stderr: string): string => {
  const uncached = /ENOTCACHED/.test(stderr)
    ? "npm's cache lacks what is named below: run npm ci in the repository, which fills it.\n"
    : '';
  return `npm ci failed without the network. ${uncached}${stderr}`;
};
