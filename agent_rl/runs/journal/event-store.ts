import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';

import type { NumberedEvent } from './event-frame.ts';
import {
  asItIsNow,
  type Damaged,
  openEvents,
  readSegment,
  type Segment,
  segmentsOf,
} from './segments.ts';

/** Where an event stands: the segment, by the number of its first event, and the row in it. */
export type EventPlace = readonly [segment: number, row: number];

/** How far a journal was read: rows of its last segment. */
export interface JournalMark {
  segment: number;
  rows: number;
  /** Of what these rows are about. */
  crc: number;
}

export const journalStart: JournalMark = { segment: 0, rows: 0, crc: 0 };

/** A decoded segment. */
interface Held {
  events: NumberedEvent[];
  /** Of an open one, bytes that were read. */
  bytes: number;
  checksum: string | undefined;
}

const nothingHeld: Held = { events: [], bytes: 0, checksum: undefined };

/** Segments that are held decoded. */
const mostHeld = 3;

/** A journal that is read on as it grows, and event by event. */
export class EventStore {
  /** By the number of their first event, the newest used last. */
  readonly #held = new Map<number, Held>();

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
    if (found === undefined) return false;
    const events = await this.#events(found);
    return events.length >= rows && crcOf(events.slice(0, rows)) === crc;
  }

  /** Reads what is behind a mark. @returns the new mark */
  async readOn(
    mark: JournalMark,
    use: (event: NumberedEvent, place: EventPlace) => Promise<void> | void,
  ): Promise<JournalMark> {
    let read = mark;
    for (const segment of segmentsOf(this.folder)) {
      const { first } = segment;
      if (first < mark.segment) continue;
      const events = await this.#events(segment);
      const from = first === mark.segment ? mark.rows : 0;
      const { length } = events;
      for (let row = from; row < length; row++) await use(events[row]!, [first, row]);
      if (length > 0) read = { segment: first, rows: length, crc: crcOf(events) };
    }
    return read;
  }

  /** @throws Error for one that is not there any more */
  async get(places: readonly EventPlace[]): Promise<NumberedEvent[]> {
    const segments = segmentsOf(this.folder);
    const events: NumberedEvent[] = [];
    for (const [first, row] of places) {
      const held = this.#held.get(first)?.events[row];
      const segment = segments.find((one) => one.first === first);
      const event = held ?? (segment && (await this.#events(segment))[row]);
      if (event === undefined) throw new Error(`the journal has no row ${row} of segment ${first}`);
      events.push(event);
    }
    return events;
  }

  async #events(segment: Segment): Promise<NumberedEvent[]> {
    const { first, checksum } = asItIsNow(segment);
    const known = this.#held.get(first);
    const held =
      checksum === undefined
        ? this.#grown(segment, known ?? nothingHeld)
        : known?.checksum === checksum
          ? known
          : { events: await readSegment(segment, this.damaged), bytes: 0, checksum };
    this.#held.delete(first);
    this.#held.set(first, held);
    const [oldest] = this.#held.keys();
    if (this.#held.size > mostHeld && oldest !== undefined) this.#held.delete(oldest);
    return held.events;
  }

  #grown({ file }: Segment, held: Held): Held {
    const descriptor = openSync(file, 'r');
    try {
      const { size } = fstatSync(descriptor);
      const { events, bytes } = size < held.bytes ? nothingHeld : held;
      const more = Buffer.alloc(size - bytes);
      readSync(descriptor, more, 0, more.length, bytes);
      const read = openEvents(file, more, this.damaged);
      return { events: events.concat(read.events), bytes: bytes + read.bytes, checksum: undefined };
    } finally {
      closeSync(descriptor);
    }
  }
}

const crcOf = (events: readonly NumberedEvent[]): number =>
  events.reduce((crc, { seq, type, when, iteration, round, slot, sample, data }) => {
    const about = [seq, type, when, iteration, round, slot, sample, data?.['taskId'] ?? null];
    return crc32(JSON.stringify(about), crc);
  }, 0);

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
