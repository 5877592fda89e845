import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../../../core/errors.ts';
import { keyText, membersOf } from '../../../core/rollout.ts';
import { episodeRecord } from '../../episodes/episode-record.ts';
import type { EpisodeFile, EpisodeRecord } from '../../episodes/read-episodes.ts';
import type { LearnedRecord } from '../../episodes/learned-record.ts';
import type { NumberedEvent } from '../../journal/event-frame.ts';
import { type EventPlace, EventStore } from '../../journal/event-store.ts';
import { learnedOf } from '../../journal/learned-event.ts';
import { regrouped, rolloutWith } from '../../journal/read-journal.ts';
import { partText } from '../../query/parts.ts';
import type { RunFolder } from '../../run-folder.ts';
import type { IndexState } from '../api.ts';
import { type IndexedEpisode, rowOf } from './episode-row.ts';
import { emptyIndex, type IndexContents, readIndexCache, writeIndexCache } from './index-cache.ts';

/** So much more than the cache has is worth writing it anew while the run goes on. */
const worthWritingEpisodes = 10_000;

/** An episode with all that is recorded of it. */
export interface IndexedRecord {
  record: EpisodeRecord;
  learned: LearnedRecord | undefined;
}

/** The rows of a run's episodes and where their events are: read once, kept beside the journal, and read on when it grows. */
export class EpisodeIndex {
  #contents = emptyIndex();
  #byId = new Map<string, IndexedEpisode>();
  /** Whether `#contents.episodes` are in the order of their keys. */
  #sorted = true;
  #reading: Promise<boolean> | undefined;
  #ready = false;
  #cached = 0;
  #opened = false;
  #warned = false;
  readonly #store: EventStore;

  /** @param warn is called once when the index cannot be kept */
  constructor(
    private readonly folder: RunFolder,
    private readonly warn: (text: string) => void = () => undefined,
  ) {
    this.#store = new EventStore(folder.journal, (problem) => this.#damaged(problem));
  }

  /** In the order of their keys: training episodes, then those that were held out. */
  all(): readonly IndexedEpisode[] {
    if (!this.#sorted) this.#contents.episodes.sort(byKey);
    this.#sorted = true;
    return this.#contents.episodes;
  }

  count(set: EpisodeFile): number {
    return this.#contents.episodes.filter((one) => one.set === set).length;
  }

  find(id: string): IndexedEpisode | undefined {
    return this.#byId.get(id);
  }

  neighbours({ set, row }: IndexedEpisode): { previous: string | null; next: string | null } {
    const episodes = this.all().filter((one) => one.set === set);
    const at = episodes.findIndex((one) => one.row.id === row.id);
    return { previous: episodes[at - 1]?.row.id ?? null, next: episodes[at + 1]?.row.id ?? null };
  }

  /** Reads an episode whole. */
  async read(episode: IndexedEpisode): Promise<IndexedRecord & { seq: number }> {
    const { rollout, drawn, learned, row } = episode;
    const [event, said, ...drew] = await this.#store.get([rollout, learned ?? rollout, ...drawn]);
    const members = membersOf(rolloutWith(event!, drew));
    const member = members.find(({ part }) => part.agent === row.agent);
    if (member?.rollout.taskId !== row.taskId) throw new Error('the journal was replaced');
    const of = learned && learnedOf(said!);
    return { record: episodeRecord(regrouped(member, of)), learned: of, seq: event!.seq };
  }

  /** The event of its rollout, with everything but what was drawn. */
  async eventOf({ rollout }: IndexedEpisode): Promise<NumberedEvent> {
    return (await this.#store.get([rollout]))[0]!;
  }

  state(): IndexState {
    const { mark, unreadable } = this.#contents;
    const { read, all } = this.#store.bytes(mark);
    return {
      ready: this.#ready && this.#reading === undefined,
      bytes: read,
      totalBytes: all,
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
    const first = !this.#ready;
    const replaced = !(await this.#store.holds(this.#contents.mark));
    if (replaced) this.#take(emptyIndex());
    const { mark } = this.#contents;
    const now = await this.#store.readOn(mark, (event, place) => this.#note(event, place));
    this.#contents.mark = now;
    this.#ready = true;
    this.#keep();
    return first || replaced || now.segment !== mark.segment || now.rows !== mark.rows;
  }

  async #note(event: NumberedEvent, place: EventPlace): Promise<void> {
    const { type, data = {} } = event;
    const { pending } = this.#contents;
    if (type === 'session' && data['voids'] === true) this.#void(Number(data['from']));
    if (type === 'learned') this.#learn(event, place);
    if (type !== 'generation' && type !== 'rollout') return;
    const name = keyText(event as Required<NumberedEvent>);
    const drawn = pending[name] ?? [];
    if (type === 'generation') {
      pending[name] = [...drawn, place];
      return;
    }
    delete pending[name];
    try {
      const rollout = rolloutWith(event, await this.#store.get(drawn));
      for (const member of membersOf(rollout)) this.#add(episodeRecord(member), { place, drawn });
    } catch (thrown) {
      this.#damaged(`event ${event.seq}, rollout ${name}: ${messageOf(thrown)}`);
    }
  }

  #add(
    record: EpisodeRecord,
    { place, drawn }: { place: EventPlace; drawn: readonly EventPlace[] },
  ): void {
    const characters = record.messages.reduce((sum, { content }) => sum + content.length, 0);
    const set = record.when === 'train' ? 'train' : 'eval';
    const row = rowOf(record);
    const known = this.#byId.get(row.id);
    // Played again by a later session.
    if (known !== undefined) {
      delete known.learned;
      Object.assign(known, { row, rollout: place, drawn, characters });
      return;
    }
    this.#put({ row, set, rollout: place, drawn, characters });
  }

  #put(episode: IndexedEpisode): void {
    this.#byId.set(episode.row.id, episode);
    this.#contents.episodes.push(episode);
    this.#sorted = false;
  }

  #learn(event: NumberedEvent, place: EventPlace): void {
    const record = learnedOf(event);
    const episode = this.#byId.get(partText(record));
    if (episode === undefined) return;
    episode.row.use = record.use;
    episode.row.advantage = record.advantage;
    episode.learned = place;
  }

  /** A session that takes nothing recorded after an iteration began. */
  #void(from: number): void {
    const { episodes, ...contents } = this.#contents;
    const kept = episodes.filter(({ row }) => row.iteration <= from && row.when !== 'after');
    this.#take({ ...contents, pending: {}, episodes: kept });
  }

  #take(contents: IndexContents): void {
    this.#contents = { ...contents, episodes: [] };
    this.#byId = new Map();
    for (const episode of contents.episodes) this.#put(episode);
    this.#cached = contents.episodes.length;
  }

  #damaged(problem: string): void {
    const { unreadable } = this.#contents;
    // A segment is read again where it is no longer held.
    if (!unreadable.first.includes(problem)) unreadable.add(problem);
  }

  #keep(): void {
    const { length } = this.#contents.episodes;
    if (length === this.#cached) return;
    const { path, summary } = this.folder;
    const ended = existsSync(summary) && !existsSync(join(path, 'run.lock'));
    if (!ended && length - this.#cached < worthWritingEpisodes) return;
    this.#cached = length;
    const problem = writeIndexCache(this.folder, this.#contents);
    if (problem === undefined || this.#warned) return;
    this.#warned = true;
    this.warn(`The index of ${path} cannot be saved and is rebuilt at each start: ${problem}`);
  }
}

/** Training episodes first, then by key. */
function byKey(a: IndexedEpisode, b: IndexedEpisode): number {
  if (a.set !== b.set) return a.set === 'train' ? -1 : 1;
  return a.row.iteration - b.row.iteration || compareIds(a.row.id, b.row.id);
}

const ids = new Intl.Collator('en', { numeric: true });
const compareIds = (a: string, b: string): number => ids.compare(a, b);
