import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { parse } from 'yaml';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import { notARun, type RunFolder, runFolderAt } from '../run-folder.ts';
import type { RunInputs } from '../inputs/run-inputs.ts';
import { RunSettings } from './run-settings.ts';
import { checkSummary, type StoredSummary } from './stored-summary.ts';

/** What a run's folder says of it, whether it has ended or not. */
export interface RecordedRun {
  folder: RunFolder;
  /** `config.yaml`: every default filled in. */
  config: Readonly<Record<string, unknown>>;
  settings: RunSettings;
  /** Of supervised training. */
  isSupervised: boolean;
  /** `inputs.json`; undefined in a run that ended before it was written. */
  inputs: Partial<RunInputs> | undefined;
  /** `summary.json`; undefined until the run has ended. */
  summary: StoredSummary | undefined;
}

/** @throws AgentRlError `CHECKPOINT_INVALID` for a folder that is no run's, a file of it that cannot be read, or a summary of another shape */
export function recordedRun(run: string): RecordedRun {
  const folder = runFolderAt(resolve(run));
  const config = readRecord(folder.config, parse);
  if (config === undefined) throw notARun(folder.path, 'config.yaml');
  const settings = new RunSettings(config);
  return {
    folder,
    config,
    settings,
    isSupervised: settings.at('train.mode') === 'sft',
    inputs: readRecord(join(folder.path, 'inputs.json'), JSON.parse),
    summary: checkSummary(folder.summary, readRecord(folder.summary, JSON.parse)),
  };
}

function readRecord(
  file: string,
  read: (text: string) => unknown,
): Readonly<Record<string, unknown>> | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const value = read(readFileSync(file, 'utf8'));
    if (isRecord(value)) return value;
    throw new Error('it is not a record');
  } catch (cause) {
    throw new AgentRlError('CHECKPOINT_INVALID', `${file} cannot be read: ${messageOf(cause)}.`, {
      cause,
    });
  }
}
