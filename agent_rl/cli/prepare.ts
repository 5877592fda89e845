import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { JobOptions } from '../jobs/job.ts';
import type { PrepareRunOptions } from '../compose/prepare-run.ts';
import type { Override } from '../config/index.ts';
import { AgentRlError } from '../core/errors.ts';
import { packageRoot } from '../core/package-root.ts';
import { runFileOf, runsNear } from '../runs/run-folder.ts';
import { overridesOf, setsOf } from './flags/config-flags.ts';
import type { Running } from './command.ts';

export interface PrepareOptions extends Pick<PrepareRunOptions, 'needs' | 'instead'> {
  /** Run file. */
  file: string;
  /** Settings that the command itself sets. */
  fixed?: readonly Override[];
  /** The job keeps a log, which names the files its settings came from. */
  logs?: boolean;
  /** The job trains. */
  training?: boolean;
}

/**
 * Reads the config and loads its plugins.
 *
 * @throws AgentRlError as `prepareRun` does.
 */
export async function prepare(
  { parsed, job }: Running,
  { file, fixed = [], logs = false, training = false, ...ofProgram }: PrepareOptions,
): Promise<JobOptions> {
  // Late, so that `--help` does not load every plugin.
  const { shippedNotes } = await import('../config/index.ts');
  const { prepareRun } = await import('../compose/prepare-run.ts');
  const settings = {
    file,
    overrides: setsOf(parsed),
    flags: [...overridesOf(parsed), ...fixed],
    training,
    ...ofProgram,
  };
  const prepared = await prepareRun(settings, job.signal);
  for (const warning of prepared.loaded.warnings) job.print(`Note: ${warning}`);
  if (!logs && parsed['quiet'] !== true)
    for (const note of shippedNotes(prepared.loaded)) job.print(note);
  return { ...prepared, ...job };
}

/**
 * The `config.yaml` of the run that a run folder or one of its checkpoints belongs to.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` when it does not exist.
 */
function configOfRun(folder: string): string {
  const file = runFileOf(folder);
  if (file !== undefined) return file;
  if (!existsSync(folder))
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `There is no folder ${resolve(folder)}. If the run failed before it created its folder, there is nothing to resume: start it again. ${runsNear(folder)}`,
    );
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `${resolve(folder)} is neither a run folder nor a checkpoint: no config.yaml is in it or above it. Name the run file with --config.`,
  );
}

/**
 * Run file for a command on a run or checkpoint: that of `--config`, or else that of the run.
 *
 * @param usual the one of `configs/` to use without a run either, with a note to the user
 * @throws AgentRlError `CHECKPOINT_INVALID` for a folder of no run
 */
export function configFor(
  folder: unknown,
  { parsed, job }: Pick<Running, 'parsed' | 'job'>,
  usual = 'code_exec_grpo.yaml',
): string {
  const named = parsed['config'];
  if (typeof named === 'string') return named;
  if (typeof folder === 'string' && folder !== '') return configOfRun(folder);
  const file = join(packageRoot(), 'configs', usual);
  if (parsed['quiet'] !== true) job.print(`No run file was named with --config: using ${file}`);
  return file;
}
