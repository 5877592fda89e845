import { existsSync, readFileSync } from 'node:fs';
import { link, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import { AgentRlError, messageOf } from '../../../agent_rl/core/errors.ts';

/** A model of the hub at one of its branches, tags or commits. */
export interface HubModel {
  /** `org/name` */
  name: string;
  revision: string;
}

/** `org/name`; what starts with a dot is a path. */
const hubName = /^\w[\w.-]*\/\w[\w.-]*$/;
const revisionPattern = /^(?!.*\.\.)\w[\w./-]*$/;

/** The model of the hub that a name can mean. @throws AgentRlError `CONFIG_INVALID` for what can be no revision */
export function hubModelOf(name: string, revision = 'main'): HubModel | undefined {
  if (!hubName.test(name)) return undefined;
  if (revisionPattern.test(revision)) return { name, revision };
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${JSON.stringify(revision)} is not a revision of ${name}; expected a branch, a tag or a commit.`,
  );
}

export const commitPattern = /^[0-9a-f]{40}$/;

/**
 * One model's part of the cache that Python's `huggingface_hub` and `transformers` share: files by their checksum in
 * `blobs`, links to them by commit and name in `snapshots`, and the commit of each branch in `refs`.
 */
export class HubCache {
  readonly folder: string;

  constructor(
    cacheDir: string,
    private readonly model: HubModel,
  ) {
    this.folder = join(cacheDir, `models--${model.name.replaceAll('/', '--')}`);
  }

  snapshot(commit: string): string {
    return join(this.folder, 'snapshots', commit);
  }

  blob(checksum: string): string {
    return join(this.folder, 'blobs', checksum);
  }

  /** The folder of the revision, when everything that a run reads is in it. */
  wholeSnapshot(): string | undefined {
    const commit = this.#knownCommit();
    if (commit === undefined) return undefined;
    const folder = this.snapshot(commit);
    return isWhole(folder) ? folder : undefined;
  }

  /** Remembers which commit the revision is. */
  async setRef(commit: string): Promise<void> {
    if (this.model.revision === commit) return;
    await mkdir(dirname(this.#ref), { recursive: true });
    await writeFile(this.#ref, commit);
  }

  /** Makes a blob a file of a snapshot. */
  async place(checksum: string, commit: string, name: string): Promise<void> {
    const [blob, file] = [this.blob(checksum), join(this.snapshot(commit), name)];
    await mkdir(dirname(file), { recursive: true });
    await rm(file, { force: true });
    // Where the system allows no symbolic links, as Windows without its developer mode, a second name does.
    await symlink(relative(dirname(file), blob), file).catch(() => link(blob, file));
  }

  get #ref(): string {
    return join(this.folder, 'refs', this.model.revision);
  }

  #knownCommit(): string | undefined {
    const { revision } = this.model;
    if (commitPattern.test(revision)) return revision;
    if (!existsSync(this.#ref)) return undefined;
    const commit = readFileSync(this.#ref, 'utf8').trim();
    return commitPattern.test(commit) ? commit : undefined;
  }
}

/** Whether config, tokenizer and every file of weights are there; a link to a blob that is gone is not. */
function isWhole(folder: string): boolean {
  const has = (name: string): boolean => existsSync(join(folder, name));
  if (!['config.json', 'tokenizer.json', 'tokenizer_config.json'].every(has)) return false;
  if (has('model.safetensors')) return true;
  const index = 'model.safetensors.index.json';
  return has(index) && shardsOf(join(folder, index)).every(has);
}

/** Names of the files that an index of shards names. @throws AgentRlError `MODEL_INVALID` */
export function shardsOf(index: string): readonly string[] {
  try {
    const { weight_map: map } = JSON.parse(readFileSync(index, 'utf8')) as { weight_map: object };
    return [...new Set(Object.values(map).map(String))].toSorted();
  } catch (cause) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `${index} is not an index of shards (${messageOf(cause)}). Delete it to have it fetched again.`,
      { cause },
    );
  }
}
