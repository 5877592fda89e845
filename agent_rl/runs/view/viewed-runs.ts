import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { settingDifferences } from '../flat-settings.ts';
import { recordedRun } from '../query/recorded-run.ts';
import type { Comparison, EpisodeRow, RunEvent, RunHead, TaskEverywhere } from './api.ts';
import { refuseLinks } from './refuse-links.ts';
import { ViewedRun } from './viewed-run.ts';

export interface ViewedRunsOptions {
  /** Folders of runs; all runs in `parent` without them. */
  folders?: readonly string[] | undefined;
  parent: string;
  /** Told what the user should know, once each. */
  warn: (text: string) => void;
}

const pollMs = 1000;
/** An answer waits so long for an index that is being made, and then says how far it is. */
const indexWaitMs = 300;

/** The runs of a viewer. Files are looked at when a client asks or listens, at most once a second. */
export class ViewedRuns {
  readonly #byPath = new Map<string, ViewedRun>();
  readonly #byId = new Map<string, ViewedRun>();
  readonly #told = new Set<string>();
  /** Whether each folder held only what may be read, when it was last looked at. */
  readonly #looked = new Map<ViewedRun, { at: number; isOwn: boolean }>();
  #indexing: Promise<void> | undefined;

  /** @throws AgentRlError `CHECKPOINT_INVALID` for a folder that is no run's, or where no run exists at all */
  constructor(private readonly options: ViewedRunsOptions) {
    const { folders, parent } = options;
    for (const folder of folders ?? []) {
      if (existsSync(folder)) refuseLinks(folder);
      recordedRun(folder);
    }
    this.#look();
    if (this.#byId.size > 0) return;
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `There is no run in ${resolve(parent)}. Train one (agent-rl train), or name the folders of runs: agent-rl view RUN…`,
    );
  }

  /** Runs there are now; new ones are found. */
  all(): readonly ViewedRun[] {
    this.#look();
    return [...this.#byId.values()].filter((run) => this.#isReadable(run));
  }

  async heads(): Promise<RunHead[]> {
    const all = this.all();
    await Promise.all(all.map((run) => run.look()));
    return all.map((run) => run.head());
  }

  find(id: string): ViewedRun | undefined {
    const known = this.#byId.get(id);
    if (known !== undefined) return this.#isReadable(known) ? known : undefined;
    return this.all().find((run) => run.id === id);
  }

  /** A run whose index is up to date, or is being made for longer than a moment. */
  async indexed(id: string): Promise<ViewedRun | undefined> {
    const run = this.find(id);
    if (run === undefined) return undefined;
    const waiting = new AbortController();
    const update = run.update().finally(() => waiting.abort());
    await Promise.race([
      update,
      // The request that waits for it hears of a failure by the next update.
      setTimeout(indexWaitMs, undefined, { signal: waiting.signal }).catch(() => undefined),
    ]);
    return run;
  }

  /** Indexes all runs, one after the other. */
  indexAll(): Promise<void> {
    this.#indexing ??= (async () => {
      for (const run of this.all()) await run.update();
    })().finally(() => {
      this.#indexing = undefined;
    });
    return this.#indexing;
  }

  /** The rows of one task in every run, without the runs that are not indexed yet included once they are. */
  async task(taskId: string): Promise<TaskEverywhere> {
    await this.indexAll();
    const runs = this.all().map((run) => ({ run: run.id, rows: rowsOf(run, taskId) }));
    return { taskId, runs: runs.filter(({ rows }) => rows.length > 0) };
  }

  /** @throws AgentRlError `CHECKPOINT_INVALID` */
  compare(a: ViewedRun, b: ViewedRun): Comparison {
    const [one, other] = [a, b].map(({ folder }) => recordedRun(folder.path));
    return {
      a: a.id,
      b: b.id,
      rows: settingDifferences(one?.config, other?.config),
      inputs: settingDifferences(one?.inputs ?? {}, other?.inputs ?? {}),
    };
  }

  /**
   * What changes, for as long as the signal lasts.
   *
   * @yields first every run, then each that has changed
   */
  async *events(signal: AbortSignal): AsyncGenerator<RunEvent> {
    const told = new Map<string, { stamp: string; text: string; state: string }>();
    while (!signal.aborted) {
      for (const run of this.all()) {
        const last = told.get(run.id);
        const stamp = run.stamp();
        if (last?.stamp === stamp && last.state !== 'training') continue;
        const event = run.event();
        const text = JSON.stringify(event);
        told.set(run.id, { stamp, text, state: event.state });
        if (text !== last?.text) yield event;
      }
      // The first event of a run that is being indexed tells how far it is.
      void this.indexAll().catch(this.#report);
      await setTimeout(pollMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Each failure once: it may come again with every look. */
  readonly #report = (thrown: unknown): void => {
    const text = messageOf(thrown);
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.options.warn(text);
  };

  /** Whether a run is there and its folder leads nowhere else. */
  #isReadable(run: ViewedRun): boolean {
    const { path } = run.folder;
    if (!existsSync(path)) return false;
    const now = performance.now();
    const last = this.#looked.get(run);
    if (last !== undefined && now - last.at < pollMs) return last.isOwn;
    const looked = { at: now, isOwn: true };
    this.#looked.set(run, looked);
    try {
      refuseLinks(path);
    } catch (thrown) {
      looked.isOwn = false;
      this.#report(thrown);
    }
    return looked.isOwn;
  }

  #look(): void {
    const { folders, parent } = this.options;
    for (const path of folders?.map((folder) => resolve(folder)) ?? runsIn(parent)) {
      if (this.#byPath.has(path)) continue;
      const id = freeId(basename(path), this.#byId);
      const run = new ViewedRun(id, path);
      this.#byPath.set(path, run);
      this.#byId.set(id, run);
    }
  }
}

const rowsOf = (run: ViewedRun, taskId: string): EpisodeRow[] =>
  run.index.all().flatMap(({ row }) => (row.taskId === taskId ? [row] : []));

/** Folders with a `config.yaml`, by name. */
function runsIn(parent: string): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .toSorted()
    .map((name) => resolve(parent, name))
    .filter((path) => existsSync(join(path, 'config.yaml')));
}

/** The folder's name in signs that mean nothing in an address; a number tells those apart that would be the same. */
function freeId(name: string, taken: ReadonlyMap<string, unknown>): string {
  const safe = name.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '_') || '_';
  for (let number = 1; ; number++) {
    const id = number === 1 ? safe : `${safe}~${number}`;
    if (!taken.has(id)) return id;
  }
}
