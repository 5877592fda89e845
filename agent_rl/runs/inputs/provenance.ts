import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { SettingOrigin, SettingOrigins } from '../../config/index.ts';
import { isRecord } from '../../core/is-record.ts';
import { redactor, writeFileAtomic } from '../../telemetry/index.ts';
import type { RunFolder } from '../run-folder.ts';
import type { Machine } from './machine.ts';

/** What a session of a run was started with. */
export interface Session {
  /** ISO 8601. */
  startedAt: string;
  /** Words of the command line, without values of secrets. */
  command: readonly string[];
  versions: Readonly<Record<string, string>>;
}

/** `provenance.json`: where a run's settings come from, and what started it. Nothing that is learned depends on it. */
export interface Provenance {
  schema: 1;
  /** By dotted path. */
  settings: SettingOrigins;
  /** One more for each resume. */
  sessions: readonly Session[];
}

const provenanceFile = ({ path }: Pick<RunFolder, 'path'>): string => join(path, 'provenance.json');

/** What a run recorded of it; undefined where there is no such file, or it is not one. */
export function readProvenance(folder: Pick<RunFolder, 'path'>): Provenance | undefined {
  const file = provenanceFile(folder);
  if (!existsSync(file)) return undefined;
  try {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const whole =
      isRecord(stored) && isRecord(stored['settings']) && Array.isArray(stored['sessions']);
    return whole && stored['schema'] === 1 ? (stored as unknown as Provenance) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes down where the settings of a session come from. A resume takes most of them from the run's own `config.yaml`: those
 * keep the origin that they had.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export function recordProvenance(
  folder: Pick<RunFolder, 'path' | 'config'>,
  origins: SettingOrigins,
  machine: Machine,
): void {
  const before = readProvenance(folder);
  const settings = Object.fromEntries(
    Object.entries(origins).map(([path, origin]) => [
      path,
      earlier(path, origin, before) ?? origin,
    ]),
  );
  const sessions = [...(before?.sessions ?? []), thisSession(machine)];
  const provenance: Provenance = { schema: 1, settings: redacted(settings), sessions };
  writeFileAtomic(provenanceFile(folder), `${JSON.stringify(provenance, null, 1)}\n`);
}

/** Where a resume has a setting from the run's own file, what the run knew of it. */
function earlier(path: string, { source, place }: SettingOrigin, before: Provenance | undefined) {
  const own = source === 'file' && /(^|[/\\])config\.yaml:\d+$/.test(place ?? '');
  return own ? before?.settings[path] : undefined;
}

function redacted(settings: SettingOrigins): SettingOrigins {
  const redact = redactor();
  return Object.fromEntries(
    Object.entries(settings).map(([path, { source, place }]) => [
      path,
      { source, ...(place !== undefined && { place: redact(place) }) },
    ]),
  );
}

function thisSession({ agentRl, node, platform }: Machine): Session {
  const words = process.argv.slice(1);
  // A password in an address is a secret wherever it stands.
  const redact = redactor({ ...process.env, COMMAND_LINE: words.join(' ') });
  return {
    startedAt: new Date().toISOString(),
    command: words.map((word) => redact(word)),
    versions: { agent_rl: agentRl, node, platform },
  };
}
