import { keyText, membersOf } from '../../../core/rollout.ts';
import { episodeRecord } from '../../episodes/episode-record.ts';
import type { EpisodeFile, EpisodeRecord } from '../../episodes/read-episodes.ts';
import { Unreadable } from '../../episodes/read-lines.ts';
import type { LearnedRecord } from '../../episodes/learned-record.ts';
import type { NumberedEvent } from '../../journal/event-frame.ts';
import { EventStore, journalStart } from '../../journal/event-store.ts';
import { learnedOf } from '../../journal/learned-event.ts';
import { regrouped, rolloutWith } from '../../journal/read-journal.ts';
import { generationsOf, outlineOf } from '../../journal/rollout-event.ts';
import { partText } from '../../query/parts.ts';
import type { RunFolder } from '../../run-folder.ts';
import type { IndexState } from '../api.ts';
import { type IndexedEpisode, rowOf } from './episode-row.ts';

/** An episode with all that is recorded of it. */
export interface IndexedRecord {
  record: EpisodeRecord;
  learned: LearnedRecord | undefined;
}

/** The rows of a run's episodes and the numbers of their events; read on when the journal grows. */
export class EpisodeIndex {
  #episodes: IndexedEpisode[] = [];
  #byId = new Map<string, IndexedEpisode>();
  /** Whether the episodes are in the order of their keys. */
  #sorted = true;
  #mark = journalStart;
  /** Of the last event that was read, and of those before it that could not be. */
  #seq = -1;
  #missing = new Set<number>();
  #unreadable = new Unreadable();
  #reading: Promise<boolean> | undefined;
  #ready = false;
  readonly #store: EventStore;

  constructor(private readonly folder: RunFolder) {
    this.#store = new EventStore(folder.journal, (problem) => this.#damaged(problem));
  }

  /** In the order of their keys: training episodes, then those that were held out. */
  all(): readonly IndexedEpisode[] {
    if (!this.#sorted) this.#episodes.sort(byKey);
    this.#sorted = true;
    return this.#episodes;
  }

  count(set: EpisodeFile): number {
    return this.#episodes.filter((one) => one.set === set).length;
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
    const { rollout, learned, row } = episode;
    const [event, said] = await this.#store.get([rollout, learned ?? rollout]);
    const drawn = await this.#store.get(generationsOf(event!));
    const members = membersOf(rolloutWith(event!, drawn));
    const member = members.find(({ part }) => part.agent === row.agent);
    if (member?.rollout.taskId !== row.taskId) throw new Error('the journal was replaced');
    const of = learned === undefined ? undefined : learnedOf(said!);
    return { record: episodeRecord(regrouped(member, of)), learned: of, seq: event!.seq };
  }

  /** The event of its rollout, with everything but what was drawn. */
  async eventOf({ rollout }: IndexedEpisode): Promise<NumberedEvent> {
    return (await this.#store.get([rollout], 'outline'))[0]!;
  }

  state(): IndexState {
    const { read, all } = this.#store.bytes(this.#mark);
    return {
      ready: this.#ready && this.#reading === undefined,
      bytes: read,
      totalBytes: all,
      unreadable: this.#unreadable.first,
      unreadableCount: this.#unreadable.count,
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
    const first = !this.#ready;
    const replaced = !(await this.#store.holds(this.#mark));
    if (replaced) this.#clear();
    const { segment, rows } = this.#mark;
    for await (const { events, mark } of this.#store.readOn(this.#mark)) {
      for (const event of events) this.#note(event);
      this.#mark = mark;
    }
    this.#ready = true;
    return first || replaced || this.#mark.segment !== segment || this.#mark.rows !== rows;
  }

  #clear(): void {
    this.#episodes = [];
    this.#byId.clear();
    this.#missing.clear();
    this.#unreadable = new Unreadable();
    this.#seq = -1;
    this.#mark = journalStart;
  }

  #note(event: NumberedEvent): void {
    const { seq, type, data = {} } = event;
    for (let lost = this.#seq + 1; lost < seq; lost++) this.#missing.add(lost);
    this.#seq = seq;
    if (type === 'session' && data['voids'] === true) this.#void(Number(data['from']));
    if (type === 'learned') this.#learn(event);
    if (type !== 'rollout') return;
    const gone = generationsOf(event).find((one) => this.#missing.has(one));
    if (gone === undefined)
      for (const member of membersOf(outlineOf(event))) this.#add(episodeRecord(member), seq);
    else {
      const name = keyText(event as Required<NumberedEvent>);
      this.#damaged(`event ${seq}, rollout ${name}: its generation, event ${gone}, is missing`);
    }
  }

  #add(record: EpisodeRecord, rollout: number): void {
    const characters = record.messages.reduce((sum, { content }) => sum + content.length, 0);
    const set = record.when === 'train' ? 'train' : 'eval';
    const row = rowOf(record);
    const known = this.#byId.get(row.id);
    // Played again by a later session.
    if (known !== undefined) {
      delete known.learned;
      Object.assign(known, { row, rollout, characters });
      return;
    }
    const episode = { row, set, rollout, characters } as const;
    this.#byId.set(row.id, episode);
    this.#episodes.push(episode);
    this.#sorted = false;
  }

  #learn(event: NumberedEvent): void {
    const { use, advantage, ...of } = learnedOf(event);
    const episode = this.#byId.get(partText(of));
    if (episode === undefined) return;
    Object.assign(episode.row, { use, advantage });
    episode.learned = event.seq;
  }

  /** A session that takes nothing recorded after an iteration began. */
  #void(from: number): void {
    const isKept = ({ row }: IndexedEpisode) => row.iteration <= from && row.when !== 'after';
    this.#episodes = this.#episodes.filter(isKept);
    this.#byId = new Map(this.#episodes.map((one) => [one.row.id, one]));
  }

  #damaged(problem: string): void {
    // A segment is read again where it is no longer held.
    if (!this.#unreadable.first.includes(problem)) this.#unreadable.add(problem);
  }
}

/** Training episodes first, then by key. */
function byKey(a: IndexedEpisode, b: IndexedEpisode): number {
  if (a.set !== b.set) return a.set === 'train' ? -1 : 1;
  return a.row.iteration - b.row.iteration || compareIds(a.row.id, b.row.id);
}

const ids = new Intl.Collator('en', { numeric: true });
const compareIds = (a: string, b: string): number => ids.compare(a, b);
