import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../../core/errors.ts';
import { append } from '../../core/long-lists.ts';
import { isRecord } from '../../core/is-record.ts';
import { flatSettings } from '../flat-settings.ts';
import { readProvenance } from '../inputs/provenance.ts';
import type { RecordedRun } from '../query/recorded-run.ts';
import type { ConfigRow, RunFacts, RunFile, RunHead, SliceRates } from './api.ts';
import { lastLines, rateOf } from './run-state.ts';

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
  const { checkpoints } = folder;
  return {
    head,
    slices: slicesOf(summary),
    config: flatSettings(config).map(([path, value]): ConfigRow => {
      const { source = 'unknown', place = null } = provenance?.settings[path] ?? {};
      return { path, value: value ?? null, source, place };
    }),
    files: filesOf(folder.path),
    inputs: inputs ?? null,
    summary: summary ?? null,
    sessions: provenance?.sessions ?? [],
    log: lastLines(folder.log, logLines),
    checkpoints: existsSync(checkpoints)
      ? readdirSync(checkpoints).filter((name) => !/\.partial(\.old)?$/.test(name))
      : [],
    profiled: existsSync(folder.profile),
  };
}

function slicesOf(summary: RecordedRun['summary']): SliceRates[] {
  const { before, after } = summary?.eval ?? {};
  const names = [before, after].flatMap((one) => Object.keys(one?.groups ?? {}));
  return [...new Set(names)].map((name) => ({
    name,
    before: rateOf(before?.groups?.[name]),
    after: rateOf(after?.groups?.[name]),
  }));
}

/** All files of a run, with the hashes that manifests of checkpoints have. */
function filesOf(folder: string, below = '', manifest: Manifest = noManifest): RunFile[] {
  const files: RunFile[] = [];
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) append(files, filesOf(folder, path, manifestOf(join(folder, path))));
    else if (entry.isFile()) {
      const { size } = statSync(join(folder, path));
      const { hashes, problem } = manifest;
      files.push({
        path,
        bytes: size,
        sha256: hashes[entry.name] ?? null,
        sha256Problem: problem,
      });
    }
    if (files.length >= mostFiles) break;
  }
  return files.slice(0, mostFiles);
}

/** What the manifest of a checkpoint says of the files beside it. */
interface Manifest {
  hashes: Readonly<Record<string, string>>;
  /** Why it cannot be read. */
  problem?: string;
}

const noManifest: Manifest = { hashes: {} };

function manifestOf(folder: string): Manifest {
  const file = join(folder, 'manifest.json');
  if (!existsSync(file)) return noManifest;
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const files = isRecord(manifest) ? manifest['files'] : undefined;
    if (!isRecord(files)) throw new Error('it names no files');
    const strings = Object.entries(files).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    return { hashes: Object.fromEntries(strings) };
  } catch (thrown) {
    return { hashes: {}, problem: `manifest.json cannot be read: ${messageOf(thrown)}` };
  }
}
