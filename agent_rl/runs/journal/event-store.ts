import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';

import type { NumberedEvent } from './event-frame.ts';
import type { Extent } from './sealed-segment.ts';
import {
  asItIsNow,
  type Damaged,
  openEvents,
  readSegment,
  type Segment,
  segmentsOf,
} from './segments.ts';

/** How far a journal was read: rows of its last segment, and which rollouts they have. */
export interface JournalMark {
  segment: number;
  rows: number;
  crc: number;
}

export const journalStart: JournalMark = { segment: 0, rows: 0, crc: 0 };

/** A decoded segment. */
interface Held {
  events: NumberedEvent[];
  /** Of an open one, bytes that were read, and which file it is. */
  bytes: number;
  inode: string;
  checksum: string | undefined;
}

const nothingHeld: Held = { events: [], bytes: 0, inode: '', checksum: undefined };

/** Segments that are held decoded. */
const mostHeld = 3;

/** A journal that is read on as it grows, and event by event. */
export class EventStore {
  /** By the number of their first event and what of them is held, the newest used last. */
  readonly #held = new Map<string, Held>();
  /** As they were when the journal was read on. */
  #segments: readonly Segment[] = [];

  constructor(
    private readonly folder: string,
    private readonly damaged: Damaged,
  ) {}

  /** Bytes of its files up to a mark, and of all. */
  bytes({ segment, rows }: JournalMark): { read: number; all: number } {
    const sizes = segmentsOf(this.folder).map(({ first, file }) => [first, sizeOf(file)] as const);
    const total = (some: typeof sizes) => some.reduce((sum, [, size]) => sum + size, 0);
    return {
      read: total(sizes.filter(([first]) => rows > 0 && first <= segment)),
      all: total(sizes),
    };
  }

  /** Whether what was read is still there. */
  async holds({ segment, rows, crc }: JournalMark): Promise<boolean> {
    if (rows === 0) return true;
    const found = segmentsOf(this.folder).find(({ first }) => first === segment);
    const events = found === undefined ? [] : await this.#events(found, 'outline');
    return events.length >= rows && crcOf(events.slice(0, rows)) === crc;
  }

  /**
   * Reads what is behind a mark.
   *
   * @yields the events of a segment, where it is sealed without what was drawn, and the new mark
   */
  async *readOn(
    mark: JournalMark,
  ): AsyncGenerator<{ events: readonly NumberedEvent[]; mark: JournalMark }> {
    this.#segments = segmentsOf(this.folder);
    for (const segment of this.#segments) {
      const { first } = segment;
      if (first < mark.segment) continue;
      const events = await this.#events(segment, 'outline');
      const { length: rows } = events;
      const from = first === mark.segment ? mark.rows : 0;
      if (rows <= from) continue;
      const now = { segment: first, rows, crc: crcOf(events) };
      yield { events: events.slice(from), mark: now };
    }
  }

  /** Events by their numbers. @throws Error for one that is not there any more */
  async get(numbers: readonly number[], extent: Extent = 'whole'): Promise<NumberedEvent[]> {
    const found: NumberedEvent[] = [];
    for (const seq of numbers) {
      const segment = this.#segments.findLast(({ first }) => first <= seq);
      const events = segment === undefined ? [] : await this.#events(segment, extent);
      // Damaged events are missing in between.
      const at = seq - (segment?.first ?? 0);
      const event = events[at]?.seq === seq ? events[at] : events.find((one) => one.seq === seq);
      if (event === undefined) throw new Error(`the journal has no event ${seq}`);
      found.push(event);
    }
    return found;
  }

  async #events(segment: Segment, extent: Extent): Promise<NumberedEvent[]> {
    const { first, checksum } = asItIsNow(segment);
    const name = checksum === undefined ? `${first}` : `${first} ${extent}`;
    const known = this.#held.get(name);
    const held =
      checksum === undefined
        ? this.#grown(segment, known ?? nothingHeld)
        : known?.checksum === checksum
          ? known
          : {
              events: await readSegment(segment, this.damaged, extent),
              bytes: 0,
              inode: '',
              checksum,
            };
    this.#held.delete(name);
    this.#held.set(name, held);
    const [oldest] = this.#held.keys();
    if (this.#held.size > mostHeld && oldest !== undefined) this.#held.delete(oldest);
    return held.events;
  }

  #grown({ file }: Segment, held: Held): Held {
    const descriptor = openSync(file, 'r');
    try {
      const { size, ino, birthtimeMs } = fstatSync(descriptor);
      const inode = `${ino} ${birthtimeMs}`;
      const isSame = held.inode === inode && size >= held.bytes;
      const { events, bytes } = isSame ? held : nothingHeld;
      const more = Buffer.alloc(size - bytes);
      readSync(descriptor, more, 0, more.length, bytes);
      const read = openEvents(file, more, this.damaged);
      const all = events.concat(read.events);
      return { events: all, bytes: bytes + read.bytes, inode, checksum: undefined };
    } finally {
      closeSync(descriptor);
    }
  }
}

const crcOf = (events: readonly NumberedEvent[]): number =>
  events.reduce((crc, { seq, type, when, iteration, slot, data }) => {
    if (type !== 'rollout') return crc;
    return crc32([seq, when, iteration, slot, data?.['taskId']].join('/'), crc);
  }, 0);

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
