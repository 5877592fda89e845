import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import type { IdentitySettings } from './identity-main.ts';
import { newSecret } from './host/secrets.ts';
import type { SuiteReport } from './report.ts';

export const identities = ['root', 'user'] as const;
export type Identity = (typeof identities)[number];

/** A user id that is unused on most machines. */
const ordinaryUser = 61_000;
/** Higher than the descriptors that Node.js closes on its own. */
const inheritedDescriptor = 251;

const isRoot = (): boolean => process.getuid?.() === 0;

/** The users that this process can run as: root can also run as an ordinary user. */
export const possibleIdentities = (): readonly Identity[] => (isRoot() ? identities : ['user']);

export type IdentityRun = Omit<IdentitySettings, 'inherited' | 'report' | 'identity'>;

/** Runs the suite in a process of that user, who must be able to read this project. @throws Error when it cannot */
export async function runAs(
  identity: Identity,
  settings: IdentityRun,
): Promise<readonly SuiteReport[]> {
  const changes = identity === 'user' && isRoot();
  const folder = fs.mkdtempSync('/tmp/attack-suite-');
  fs.chmodSync(folder, 0o755);
  try {
    return await runIn(folder, { identity, settings, changes });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function runIn(
  folder: string,
  { identity, settings, changes }: { identity: Identity; settings: IdentityRun; changes: boolean },
): Promise<readonly SuiteReport[]> {
  const [home, cwd, temporary] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'tmp')];
  const inherited = { path: join(folder, 'inherited'), secret: newSecret() };
  const report = join(temporary, 'report.json');
  for (const place of [home, cwd, temporary]) fs.mkdirSync(place);
  fs.writeFileSync(inherited.path, inherited.secret);
  const own = changes ? [home, cwd, temporary, inherited.path] : [];
  for (const place of own) fs.chownSync(place, ordinaryUser, ordinaryUser);
  const descriptor = fs.openSync(inherited.path, 'r+');
  const gap = Array.from({ length: inheritedDescriptor - 3 }, () => 'ignore' as const);
  const ownCache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const cache = changes ? join(home, '.cache') : ownCache;
  const given = JSON.stringify({ ...settings, identity, inherited, report });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'identity-main.js'), given], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: temporary, XDG_CACHE_HOME: cache },
    stdio: ['ignore', 'inherit', 'inherit', ...gap, descriptor],
    ...(changes && { uid: ordinaryUser, gid: ordinaryUser }),
  });
  fs.closeSync(descriptor);
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0)
    throw new Error(`The suite as ${identity} ended with ${signal ?? `code ${code}`}.`);
  const reports = JSON.parse(fs.readFileSync(report, 'utf8')) as SuiteReport[];
  fs.rmSync(report);
  const left = fs.readdirSync(temporary);
  const problems = left.length > 0 ? [`files are left: ${left.slice(0, 9).join(', ')}`] : [];
  const attack = 'the temporary folder at the end';
  const finding = { attack, status: 'closed', wallMs: 0, problems };
  return [...reports, { backend: 'all', identity, themes: { 'left behind': [finding] }, wallS: 0 }];
}
