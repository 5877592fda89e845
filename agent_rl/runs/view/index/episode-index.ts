import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { EpisodeFile } from '../../episodes/read-episodes.ts';
import { learnedOf, partText } from '../../query/parts.ts';
import type { RunFolder } from '../../run-folder.ts';
import type { IndexState } from '../api.ts';
import { episodeOf, type IndexedEpisode, rowOf } from './episode-row.ts';
import {
  emptyIndex,
  type IndexContents,
  type IndexedFile,
  indexedFiles as files,
  readIndexCache,
  writeIndexCache,
} from './index-cache.ts';
import { changeOf, type ReadLine, readOn } from './indexed-file.ts';

/** So much more than the cache has is worth writing it anew while the run goes on. */
const worthWritingBytes = 32 * 2 ** 20;

/**
 * The rows of a run's episodes and where their lines are: read once, kept beside the records, read on when they grow, and
 * made anew when they were cut or replaced.
 */
export class EpisodeIndex {
  #contents = emptyIndex();
  #byId = new Map<string, IndexedEpisode>();
  #reading: Promise<boolean> | undefined;
  #ready = false;
  #busy = false;
  #reached = 0;
  #cachedBytes = 0;
  #opened = false;
  #warned = false;

  /** @param warn is called once when the index cannot be kept */
  constructor(
    private readonly folder: RunFolder,
    private readonly warn: (text: string) => void = () => undefined,
  ) {}

  fileOf(set: IndexedFile): string {
    return join(this.folder.trajectories, `${set}.jsonl`);
  }

  /** In the order of the files: training episodes, then those that were held out. */
  all(): readonly IndexedEpisode[] {
    const { train, eval: held } = this.#contents.episodes;
    return [...train, ...held];
  }

  count(set: EpisodeFile): number {
    return this.#contents.episodes[set].length;
  }

  find(id: string): IndexedEpisode | undefined {
    return this.#byId.get(id);
  }

  neighbours({ set, line }: IndexedEpisode): { previous: string | null; next: string | null } {
    const episodes = this.#contents.episodes[set];
    const at = episodes.findIndex((one) => one.line === line);
    return { previous: episodes[at - 1]?.row.id ?? null, next: episodes[at + 1]?.row.id ?? null };
  }

  state(): IndexState {
    const { marks, unreadable } = this.#contents;
    const indexed = files.reduce((sum, file) => sum + marks[file].bytes, 0);
    const sizes = files.map((file) => this.fileOf(file)).filter((file) => existsSync(file));
    const totalBytes = sizes.reduce((sum, file) => sum + statSync(file).size, 0);
    return {
      ready: this.#ready && !this.#busy,
      bytes: Math.min(totalBytes, Math.max(indexed, this.#reached)),
      totalBytes,
      unreadable: unreadable.first,
      unreadableCount: unreadable.count,
    };
  }

  /** Reads what is new. @returns whether there was anything; one call at a time does the work for all. */
  update(): Promise<boolean> {
    this.#reading ??= this.#update().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #update(): Promise<boolean> {
    if (!this.#opened) {
      this.#opened = true;
      const cached = readIndexCache(this.folder);
      if (cached !== undefined) this.#take(cached);
    }
    const changes = await Promise.all(
      files.map((file) => changeOf(this.fileOf(file), this.#contents.marks[file])),
    );
    if (changes.every((change) => change === 'none')) {
      const first = !this.#ready;
      this.#ready = true;
      // The run may have ended since it was read.
      this.#keep();
      return first;
    }
    const rewritten = changes.includes('rewritten');
    if (rewritten) this.#take(emptyIndex());
    const before = this.#indexedBytes();
    this.#busy = true;
    // An iteration may be written while train.jsonl is read. What was learned of it waits for its episodes.
    const learnedBytes = statSync(this.fileOf('learned'), { throwIfNoEntry: false })?.size ?? 0;
    try {
      for (const file of files)
        if (existsSync(this.fileOf(file))) await this.#readOn(file, learnedBytes);
    } finally {
      this.#busy = false;
    }
    const first = !this.#ready;
    this.#ready = true;
    // A line that is being written does not count yet.
    const isNew = first || rewritten || this.#indexedBytes() !== before;
    this.#keep();
    return isNew;
  }

  async #readOn(file: IndexedFile, learnedBytes: number): Promise<void> {
    const { marks, unreadable } = this.#contents;
    const before = files.reduce((sum, one) => sum + (one === file ? 0 : marks[one].bytes), 0);
    const use =
      file === 'learned'
        ? (line: ReadLine) => this.#learn(line)
        : (line: ReadLine) => this.#add(file, line);
    const until = file === 'learned' ? learnedBytes : Infinity;
    const told = (bytes: number) => (this.#reached = before + bytes);
    marks[file] = await readOn(this.fileOf(file), marks[file], { until, use, unreadable, told });
    this.#reached = 0;
  }

  #add(set: EpisodeFile, { line, offset, bytes }: ReadLine): void {
    const record = episodeOf(bytes, `${this.fileOf(set)}:${line + 1}`);
    this.#put({ row: rowOf(record), set, line, offset, bytes: bytes.length });
  }

  #put(episode: IndexedEpisode): void {
    this.#byId.set(episode.row.id, episode);
    this.#contents.episodes[episode.set].push(episode);
  }

  #learn({ offset, bytes }: ReadLine): void {
    const record = learnedOf(bytes.toString());
    const episode = this.#byId.get(partText(record));
    if (episode?.row.taskId !== record.taskId)
      throw new Error(`train.jsonl has no episode ${partText(record)} of task ${record.taskId}`);
    episode.row.use = record.use;
    episode.row.advantage = record.advantage;
    episode.learned = { offset, bytes: bytes.length };
  }

  #take(contents: IndexContents): void {
    this.#contents = { ...contents, episodes: { train: [], eval: [] } };
    this.#byId = new Map();
    for (const set of ['train', 'eval'] as const)
      for (const episode of contents.episodes[set]) this.#put(episode);
    this.#cachedBytes = this.#indexedBytes();
  }

  #indexedBytes(): number {
    return files.reduce((sum, file) => sum + this.#contents.marks[file].bytes, 0);
  }

  #keep(): void {
    const indexed = this.#indexedBytes();
    if (indexed === this.#cachedBytes) return;
    const { path, summary } = this.folder;
    const ended = existsSync(summary) && !existsSync(join(path, 'run.lock'));
    if (!ended && indexed - this.#cachedBytes < worthWritingBytes) return;
    this.#cachedBytes = indexed;
    const problem = writeIndexCache(this.folder, this.#contents);
    if (problem === undefined || this.#warned) return;
    this.#warned = true;
    this.warn(`The index of ${path} cannot be saved and is rebuilt at each start: ${problem}`);
  }
}
