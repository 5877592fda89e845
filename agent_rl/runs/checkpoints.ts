import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { AgentRlError, messageOf } from '../core/errors.ts';
import { isRecord } from '../core/is-record.ts';
import type { Learner } from '../core/services/learner.ts';
import { writeFileAtomic, writeFolderAtomic } from '../telemetry/index.ts';
import { holdsModel } from '../../model/weights/open-model.ts';
import { copyLanguageModelFiles } from '../../model/text/language-model.ts';
import { sha256Of } from '../core/services/sha256-of.ts';

/*
 * A checkpoint `step-N/` is a Hugging Face model folder with the optimiser's and the trainer's state beside it.
 * Named policies that are trained have a folder each inside it, of the same form.
 * It is written to a temporary folder and renamed, and its manifest, written last, holds a hash of every file: a folder without
 * a manifest, or whose files do not match it, is corrupt and is skipped with a warning.
 */

const manifestFile = 'manifest.json';
const stateFile = 'trainer-state.json';
/** In a checkpoint: the weights that draw the next collection, where they are older than its own. */
export const drawnFolder = 'drawn';
const schema = 1;

interface Manifest {
  schema: number;
  step: number;
  weightsSha256: string;
  /** Of the named policies that are trained; absent without any. */
  policies?: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string>>;
}

/** A policy whose weights are saved in a checkpoint. */
export interface SavedPolicy {
  learner: Learner;
  /** Where tokenizer and template are copied from. */
  textFolder: string;
}

/** What a checkpoint is made of. */
export interface CheckpointContents<State> extends SavedPolicy {
  step: number;
  state: State;
  /** The named policies, each saved in a folder of its name. */
  others?: ReadonlyMap<string, SavedPolicy> | undefined;
  /** Folder of the weights that draw the next collection, where they are older. */
  drawn?: string | undefined;
}

export interface SaveCheckpointOptions<State> extends CheckpointContents<State> {
  /** Folder of all checkpoints of the run. */
  folder: string;
  /** `step-12` or `best`. */
  name: string;
}

export interface SavedCheckpoint extends Pick<Manifest, 'weightsSha256' | 'policies'> {
  path: string;
}

/** Writes a checkpoint, whole or not at all. @throws AgentRlError `OUTPUT_UNWRITABLE` */
export async function saveCheckpoint<State>(
  options: SaveCheckpointOptions<State>,
): Promise<SavedCheckpoint> {
  const { folder, name, step, state, others = new Map() } = options;
  const path = join(folder, name);
  let hashes: Pick<Manifest, 'weightsSha256' | 'policies'> = { weightsSha256: '' };
  await writeFolderAtomic(path, async (partial) => {
    const policies: Record<string, string> = {};
    for (const [other, policy] of others)
      policies[other] = await savePolicy(policy, join(partial, other));
    hashes = {
      weightsSha256: await savePolicy(options, partial),
      ...(others.size > 0 && { policies }),
    };
    if (options.drawn !== undefined)
      await cp(options.drawn, join(partial, drawnFolder), { recursive: true });
    writeFileAtomic(join(partial, stateFile), `${JSON.stringify(state, null, 1)}\n`);
    const files: Record<string, string> = {};
    for (const file of readdirSync(partial, { recursive: true, encoding: 'utf8' }))
      if (statSync(join(partial, file)).isFile())
        files[file] = await sha256Of([join(partial, file)]);
    const manifest: Manifest = { schema, step, ...hashes, files };
    writeFileAtomic(join(partial, manifestFile), `${JSON.stringify(manifest, null, 1)}\n`);
  });
  return { path, ...hashes };
}

async function savePolicy({ learner, textFolder }: SavedPolicy, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const { weightsSha256 } = await learner.saveState(folder);
  await copyLanguageModelFiles(textFolder, folder);
  return weightsSha256;
}

/** Deletes all but the newest `keep` periodic checkpoints. */
export function pruneCheckpoints(folder: string, keep: number): void {
  for (const { path } of periodic(folder).slice(keep)) rmSync(path, { recursive: true });
}

/** Whether a run has checkpoints, whole or not. */
export const holdsCheckpoints = (folder: string): boolean => periodic(folder).length > 0;

function periodic(folder: string): { step: number; path: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => {
      const step = /^step-(\d+)$/.exec(name)?.[1];
      return step === undefined ? [] : [{ step: Number(step), path: join(folder, name) }];
    })
    .toSorted((a, b) => b.step - a.step);
}

/** Why a checkpoint is not whole, or `undefined`. */
export async function corruption(path: string): Promise<string | undefined> {
  const file = join(path, manifestFile);
  if (!existsSync(file)) return `it has no ${manifestFile}`;
  try {
    const files = filesOf(JSON.parse(readFileSync(file, 'utf8')));
    for (const [name, hash] of Object.entries(files)) {
      const problem = await damage(join(path, name), hash);
      if (problem !== undefined) return `${name} ${problem}`;
    }
    return undefined;
  } catch (thrown) {
    return `its ${manifestFile} cannot be read (${messageOf(thrown)})`;
  }
}

async function damage(file: string, hash: string): Promise<string | undefined> {
  try {
    const same = existsSync(file) && (await sha256Of([file])) === hash;
    return same ? undefined : 'is missing or damaged';
  } catch (thrown) {
    return `cannot be read (${messageOf(thrown)})`;
  }
}

/** The hash of each file by a manifest. One that names none would call any folder whole. */
function filesOf(manifest: unknown): Manifest['files'] {
  const files = isRecord(manifest) ? manifest['files'] : undefined;
  if (isRecord(files) && Object.hasOwn(files, stateFile)) return files as Manifest['files'];
  throw new Error(`it names no ${stateFile}`);
}

/**
 * The newest whole checkpoint of a run.
 *
 * @param warn is given a warning for each corrupt one that is skipped
 * @throws AgentRlError `CHECKPOINT_INVALID` when no checkpoint exists
 */
export async function newestCheckpoint(
  folder: string,
  warn: (text: string) => void,
): Promise<string> {
  const found = periodic(folder);
  for (const { path } of found) {
    const corrupt = await corruption(path);
    if (corrupt === undefined) return path;
    warn(`Checkpoint ${path} is skipped: ${corrupt}.`);
  }
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `${folder} has no intact checkpoint (${found.length} checked), so there is nothing to resume. Start another run, or delete the damaged checkpoints: --resume then starts this run from the beginning.`,
  );
}

/** The named policies whose weights a checkpoint holds. */
export function policiesIn(checkpoint: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(checkpoint, manifestFile), 'utf8')) as Manifest;
  return Object.keys(manifest.policies ?? {});
}

/** What `TrainerState` the checkpoint holds, unchecked beyond its hash. */
export function readTrainerState(checkpoint: string): unknown {
  return JSON.parse(readFileSync(join(checkpoint, stateFile), 'utf8'));
}

/**
 * The model folder that a path names: a checkpoint, or the newest whole checkpoint of a run.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID`
 */
export async function checkpointAt(path: string, warn: (text: string) => void): Promise<string> {
  const whole = resolve(path);
  if (holdsModel(whole)) return whole;
  const folder = join(whole, 'checkpoints');
  if (existsSync(folder)) return newestCheckpoint(folder, warn);
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `${whole} is neither a checkpoint (no config.json) nor a run folder (no checkpoints/).`,
  );
}
