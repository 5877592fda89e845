import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../../core/errors.ts';
import { requireReadable } from '../episodes/read-episodes.ts';
import { mostUnreadable } from '../episodes/read-lines.ts';
import { recordedRun, type RecordedRun } from '../query/recorded-run.ts';
import { type RunFolder, runFolderAt } from '../run-folder.ts';
import type {
  EpisodePage,
  EpisodeWhole,
  IndexState,
  MetricColumns,
  RunEvent,
  RunFacts,
  RunHead,
  TaskRow,
  Timeline,
} from './api.ts';
import { readQuery } from './episodes/episode-query.ts';
import { episodeWhole } from './episodes/episode-whole.ts';
import { filterEpisodes } from './episodes/filter-episodes.ts';
import { searchText } from './episodes/search-text.ts';
import { LazyTokenTexts } from './episodes/token-texts.ts';
import { EpisodeIndex } from './index/episode-index.ts';
import { MetricHistory } from './metric-columns.ts';
import { runFacts } from './run-facts.ts';
import { headlineOf, lastIteration, runState, startedAt, updatedAt } from './run-state.ts';
import { taskRows } from './task-rows.ts';
import { activitiesOf, RunProfile, toolsOf } from './timeline.ts';

/** One run as the viewer knows it. Its folder is only read. */
export class ViewedRun {
  readonly folder: RunFolder;
  readonly index: EpisodeIndex;
  readonly #metrics: MetricHistory;
  readonly #profile: RunProfile;
  readonly #texts = new LazyTokenTexts(() => this.#read());
  /** Why its episodes are not read: an older or newer build recorded them. */
  otherForm: string | null = null;
  #recorded: { written: string; run: RecordedRun } | undefined;

  constructor(
    readonly id: string,
    path: string,
  ) {
    this.folder = runFolderAt(path);
    this.index = new EpisodeIndex(this.folder);
    this.#metrics = new MetricHistory(this.folder);
    this.#profile = new RunProfile(this.folder);
  }

  /** Reads what is new of its episodes and its metrics. */
  async update(): Promise<void> {
    await this.look();
    const episodes = this.otherForm === null ? this.index.update() : undefined;
    await Promise.all([episodes, this.#metrics.update()]);
  }

  /** Finds out whether its episodes are in a form that is read; those that are indexed are. */
  async look(): Promise<void> {
    if (this.index.count('train') + this.index.count('eval') > 0) return;
    this.otherForm = await requireReadable(this.folder).then(() => null, messageOf);
  }

  /** How far its episodes are read, and the lines of its records that cannot be. */
  indexState(): IndexState {
    const state = this.index.state();
    const { first, count } = this.#metrics.unreadable;
    return {
      ...state,
      ready: state.ready || this.otherForm !== null,
      unreadable: [...state.unreadable, ...first].slice(0, mostUnreadable),
      unreadableCount: state.unreadableCount + count,
    };
  }

  head(): RunHead {
    let recorded: RecordedRun | undefined;
    let problem: string | null = null;
    try {
      recorded = this.#read();
    } catch (thrown) {
      problem = messageOf(thrown);
    }
    return this.#headOf(recorded, problem ?? this.otherForm);
  }

  #headOf(recorded: Partial<RecordedRun> = {}, problem = this.otherForm): RunHead {
    const { folder, id, index } = this;
    const { settings, summary } = recorded;
    const planned = settings?.at('train.maxIterations') ?? settings?.at('train.iterations');
    const seed = settings?.at('run.seed');
    return {
      id,
      name: folder.name,
      folder: folder.path,
      mode: recorded.isSupervised === true ? 'sft' : 'rl',
      ...runState(folder, summary, problem),
      iteration: lastIteration(folder),
      plannedIterations: typeof planned === 'number' ? planned : null,
      seed: typeof seed === 'number' ? seed : null,
      startedAt: startedAt(folder),
      updatedAt: updatedAt(folder),
      headline: headlineOf(folder, summary),
      episodes: { train: index.count('train'), eval: index.count('eval') },
      index: this.indexState(),
      problem,
    };
  }

  /** @throws AgentRlError `CHECKPOINT_INVALID` */
  #read(): RecordedRun {
    const { config, path, summary } = this.folder;
    const files = [config, join(path, 'inputs.json'), summary];
    const written = files
      .map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs)
      .join(' ');
    if (this.#recorded?.written !== written) this.#recorded = { written, run: recordedRun(path) };
    return this.#recorded.run;
  }

  /** Changes whenever `event` may; that of a run at work may change without it. */
  stamp(): string {
    const lock = existsSync(join(this.folder.path, 'run.lock'));
    const { ready, bytes, totalBytes, unreadableCount } = this.indexState();
    return JSON.stringify([
      updatedAt(this.folder),
      lock,
      ready,
      bytes,
      totalBytes,
      unreadableCount,
    ]);
  }

  /** What `/api/events` says of it. */
  event(): RunEvent {
    const { id: run, iteration, episodes, state, index, updatedAt: at } = this.head();
    return { run, iteration, episodes, state, index, updatedAt: at };
  }

  /** @throws AgentRlError `CHECKPOINT_INVALID` */
  facts(): RunFacts {
    const recorded = this.#read();
    return runFacts(recorded, this.#headOf(recorded));
  }

  metrics(after: number): Promise<MetricColumns> {
    return this.#metrics.after(after);
  }

  /** @throws QueryProblem */
  async episodes(given: URLSearchParams, signal?: AbortSignal): Promise<EpisodePage> {
    const query = readQuery(given);
    const all = this.index.all();
    const { matching, facets } = filterEpisodes(all, query);
    const { text, offset, limit } = query;
    const page = {
      total: all.length,
      matching: matching.length,
      facets,
      index: this.indexState(),
    };
    if (text === undefined)
      return { ...page, rows: matching.slice(offset, offset + limit).map(({ row }) => row) };
    const { index } = this;
    const { found, search } = await searchText(matching, { text, offset, limit, index, signal });
    return { ...page, rows: found.map(({ row }) => row), search };
  }

  /** Every row on one page, for an export. */
  everyEpisode(): EpisodePage {
    const all = this.index.all();
    const { matching, facets } = filterEpisodes(all, readQuery(new URLSearchParams()));
    const rows = matching.map(({ row }) => row);
    return { total: all.length, matching: rows.length, rows, facets, index: this.indexState() };
  }

  /** Undefined where there is no such episode. */
  async episode(id: string, uncut: boolean): Promise<EpisodeWhole | undefined> {
    const episode = this.index.find(id);
    if (episode === undefined) return undefined;
    return episodeWhole(episode, { run: this.id, index: this.index, texts: this.#texts, uncut });
  }

  tasks(): TaskRow[] {
    return taskRows(this.index.all().map(({ row }) => row));
  }

  async timeline(iteration: number): Promise<Timeline> {
    const metrics = await this.#metrics.after(iteration - 1);
    return {
      iteration,
      tracks: await this.#profile.tracks(iteration),
      activities: activitiesOf(metrics, iteration),
      tools: await toolsOf(this.index, iteration),
    };
  }
}
