import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { AgentRlError } from '../core/errors.ts';
import { madeNew, nearestExisting, writing } from '../telemetry/atomic-write.ts';

export interface RunFolderOptions {
  /** Folder of all runs; made if need be. */
  outputDir: string;
  /** What the user called the run. */
  name?: string | undefined;
  /** What it is called otherwise; a number is added when that is taken. */
  otherwise: string;
}

/** The folder of one run, and where in it things go. */
export interface RunFolder {
  name: string;
  /** Absolute. */
  path: string;
  config: string;
  metrics: string;
  /** Everything that was played and learned. */
  journal: string;
  checkpoints: string;
  summary: string;
  /** What each thread did, where that was asked for. */
  profile: string;
  log: string;
  /** What trackers keep to continue with. */
  trackers: string;
  /** What its policy could call, in the form of the OpenAI API. */
  tools: string;
  /** What came of it, to read and to send on. */
  report: string;
}

/** The paths of a run's folder, whether or not it exists. */
export function runFolderAt(path: string): RunFolder {
  const whole = resolve(path);
  return {
    name: basename(whole),
    path: whole,
    config: join(whole, 'config.yaml'),
    metrics: join(whole, 'metrics.jsonl'),
    journal: join(whole, 'journal'),
    checkpoints: join(whole, 'checkpoints'),
    summary: join(whole, 'summary.json'),
    profile: join(whole, 'profile.json'),
    log: join(whole, 'run.log'),
    trackers: join(whole, 'trackers'),
    tools: join(whole, 'tools.json'),
    report: join(whole, 'report.html'),
  };
}

/** The settings of the run that a checkpoint is of, or of a run folder; `undefined` for a model that no run made. */
export function runFileOf(checkpoint: string): string | undefined {
  const whole = resolve(checkpoint);
  // A run holds `checkpoints/step-40`.
  return [whole, dirname(whole), dirname(dirname(whole))]
    .map((folder) => join(folder, 'config.yaml'))
    .find((file) => existsSync(file));
}

/** The error for a folder that is not a run's: it is not there, or lacks something. */
export function notARun(path: string, lacks: string): AgentRlError {
  const whole = resolve(path);
  const problem = existsSync(whole)
    ? `${whole} is not a run folder: it has no ${lacks}.`
    : `There is no folder ${whole}.`;
  return new AgentRlError('CHECKPOINT_INVALID', `${problem} ${runsNear(whole)}`);
}

const mostNamed = 8;

/** A sentence with the runs beside a folder, or in `runs/` there. */
export function runsNear(path: string): string {
  const beside = dirname(resolve(path));
  for (const parent of [beside, join(beside, 'runs')]) {
    const runs = (existsSync(parent) ? readdirSync(parent) : []).filter((name) =>
      existsSync(join(parent, name, 'config.yaml')),
    );
    if (runs.length === 0) continue;
    const more = runs.length > mostNamed ? ` and ${runs.length - mostNamed} more` : '';
    return `The runs in ${parent} are ${runs.slice(0, mostNamed).join(', ')}${more}.`;
  }
  return 'Give a run folder, such as runs/NAME.';
}

/**
 * Makes a new folder for a run. One that exists is never used again: a name the user gave must be free,
 * another name gets `-2`, `-3`, …
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export function createRunFolder({ outputDir, name, otherwise }: RunFolderOptions): RunFolder {
  const parent = resolve(outputDir);
  writing(parent, () => mkdirSync(parent, { recursive: true }));
  for (let number = 1; ; number++) {
    const folder = join(parent, name ?? (number === 1 ? otherwise : `${otherwise}-${number}`));
    if (madeNew(folder, () => mkdirSync(folder))) {
      checkWritable(folder);
      return runFolderAt(folder);
    }
    if (name !== undefined) throw nameTaken(folder);
  }
}

/**
 * Refuses what `createRunFolder` would, and makes nothing: only a full disk is not noticed.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export function checkRunFolder({ outputDir, name }: Omit<RunFolderOptions, 'otherwise'>): void {
  const parent = resolve(outputDir);
  const place = nearestExisting(parent);
  // With the dot, a file is refused as a folder below it would be.
  writing(parent, () => accessSync(`${place}/.`, constants.W_OK | constants.X_OK));
  const folder = name === undefined ? undefined : join(parent, name);
  if (folder !== undefined && existsSync(folder)) throw nameTaken(folder);
}

const nameTaken = (folder: string): AgentRlError =>
  new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `${folder} already contains a run, and runs are never overwritten. Continue it: ${resumeCommand(folder)}\nOr choose another run.name.`,
  );

/** A full disk often still lets folders be made: find out now and not after the first evaluation. */
function checkWritable(folder: string): void {
  const probe = join(folder, '.writable');
  try {
    writing(folder, () => writeFileSync(probe, 'x'.repeat(4096)));
    rmSync(probe);
  } catch (failure) {
    rmSync(folder, { recursive: true });
    throw failure;
  }
}

/** A path as a word of a command line that can be pasted. */
export function pathWord(path: string): string {
  if (/^[\w./\\:@=+-]+$/.test(path)) return path;
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** The command that continues a run, with the settings that its folder holds. */
export const resumeCommand = (folder: string, ...more: readonly string[]): string =>
  ['npx agent-rl train --resume', pathWord(folder), ...more].join(' ');
