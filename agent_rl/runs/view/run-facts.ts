import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { append } from '../../core/long-lists.ts';
import { isRecord } from '../../core/is-record.ts';
import { readProvenance } from '../inputs/provenance.ts';
import type { RecordedRun } from '../recorded-run.ts';
import type { ConfigRow, RunFacts, RunFile, RunHead } from './api.ts';
import { flatSettings } from './compare-configs.ts';
import { lastLines } from './run-state.ts';

/** Lines of the log that are shown. */
const logLines = 200;
/** Files that are listed. */
const mostFiles = 500;

/** What a run's folder says of it besides metrics and episodes. */
export function runFacts(
  { folder, config, inputs, summary }: RecordedRun,
  head: RunHead,
): RunFacts {
  const provenance = readProvenance(folder);
  const machines = inputs?.['machines'];
  const { checkpoints } = folder;
  return {
    head,
    config: flatSettings(config).map(([path, value]): ConfigRow => {
      const { source = 'unknown', place = null } = provenance?.settings[path] ?? {};
      return { path, value: value ?? null, source, place };
    }),
    files: filesOf(folder.path),
    inputs: inputs ?? null,
    summary: summary ?? null,
    machines: Array.isArray(machines) ? machines.filter((one) => isRecord(one)) : [],
    sessions: provenance?.sessions ?? [],
    log: lastLines(folder.log, logLines),
    learnedRecorded: existsSync(join(folder.trajectories, 'learned.jsonl')),
    checkpoints: existsSync(checkpoints)
      ? readdirSync(checkpoints).filter((name) => !/\.partial(\.old)?$/.test(name))
      : [],
    profiled: existsSync(folder.profile),
  };
}

/** All files of a run, with the hashes that manifests of checkpoints have. */
function filesOf(folder: string, below = '', hashes: Hashes = {}): RunFile[] {
  const files: RunFile[] = [];
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) append(files, filesOf(folder, path, manifestOf(join(folder, path))));
    else if (entry.isFile()) {
      const { size } = statSync(join(folder, path));
      files.push({ path, bytes: size, sha256: hashes[entry.name] ?? null });
    }
    if (files.length >= mostFiles) break;
  }
  return files.slice(0, mostFiles);
}

type Hashes = Readonly<Record<string, string>>;

/** Hashes of the files of a checkpoint; none where there is no manifest that can be read. */
function manifestOf(folder: string): Hashes {
  const file = join(folder, 'manifest.json');
  if (!existsSync(file)) return {};
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const files = isRecord(manifest) ? manifest['files'] : undefined;
    if (!isRecord(files)) return {};
    return Object.fromEntries(
      Object.entries(files).flatMap(([name, hash]) =>
        typeof hash === 'string' ? [[name, hash]] : [],
      ),
    );
  } catch {
    return {};
  }
}
