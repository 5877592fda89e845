import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';

import type { JournalEvent } from '../../core/services/journal.ts';
import { writeFileAtomic, writing } from '../../telemetry/atomic-write.ts';
import { redacted } from '../../telemetry/jsonl-writer.ts';
import { redactor } from '../../telemetry/redact.ts';
import { frameOf, type NumberedEvent } from './event-frame.ts';
import { sealedBytes } from './sealed-segment.ts';
import {
  type Damaged,
  openSegment,
  readSegment,
  type Segment,
  sealedSegment,
  segmentsOf,
} from './segments.ts';

export interface JournalOptions {
  folder: string;
  /** `process`: an event survives the death of the process. `power`: also a power cut, once `synced` resolves. */
  durable: 'process' | 'power';
  /** Bytes at which a segment is sealed. */
  segmentBytes?: number | undefined;
  damaged: Damaged;
}

/** Small enough to be sealed in half a second. */
const segmentBytes = 8 * 2 ** 20;

type Data = NonNullable<JournalEvent['data']>;

/** The one writer of a run's journal. Every event is with the operating system when `write` returns. */
export class JournalWriter {
  #next: number;
  #segment: Segment;
  #descriptor: number;
  #bytes = 0;
  #sealing: Promise<void> = Promise.resolve();
  #syncing: Promise<void> | undefined;
  readonly #redact = redactor();

  private constructor(
    private readonly options: JournalOptions,
    first: number,
  ) {
    this.#next = first;
    [this.#segment, this.#descriptor] = this.#begin();
  }

  /**
   * Goes on behind what the journal holds. What an earlier session left open is sealed.
   *
   * @throws AgentRlError `OUTPUT_UNWRITABLE`
   */
  static async open(options: JournalOptions): Promise<JournalWriter> {
    const { folder, damaged } = options;
    writing(folder, () => mkdirSync(folder, { recursive: true }));
    let next = 0;
    for (const segment of segmentsOf(folder)) {
      if (segment.checksum === undefined) await seal(segment, folder, damaged);
      else rmSync(openSegment(folder, segment.first).file, { force: true });
    }
    const last = segmentsOf(folder).at(-1);
    if (last !== undefined) {
      const events = await readSegment(last, damaged, 'outline');
      next = (events.at(-1)?.seq ?? last.first) + 1;
    }
    return new JournalWriter(options, next);
  }

  /** @returns its number. @throws AgentRlError `OUTPUT_UNWRITABLE`, on a full disk among others */
  write(event: JournalEvent): number {
    const seq = this.#next;
    const data = event.data && (redacted(event.data, this.#redact) as Data);
    const frame = frameOf({ seq, ...event, ...(data && { data }) });
    writing(this.#segment.file, () => this.#append(frame));
    this.#next += 1;
    this.#bytes += frame.length;
    if (this.#bytes >= (this.options.segmentBytes ?? segmentBytes)) this.#turn();
    return seq;
  }

  /** A frame that did not fit leaves no part of it behind. */
  #append(frame: Buffer): void {
    try {
      writeFileSync(this.#descriptor, frame);
    } catch (failure) {
      ftruncateSync(this.#descriptor, this.#bytes);
      throw failure;
    }
  }

  /** Resolves when what was written is as durable as the run asks for. All events of a tick share one sync. */
  synced(): Promise<void> | undefined {
    if (this.options.durable === 'process') return undefined;
    this.#syncing ??= this.#syncSoon();
    return this.#syncing;
  }

  async #syncSoon(): Promise<void> {
    await setImmediate();
    this.#syncing = undefined;
    this.flush();
  }

  /** Makes what was written survive a power cut. */
  flush(): void {
    writing(this.#segment.file, () => fsyncSync(this.#descriptor));
  }

  /** Seals what is open. */
  async close(): Promise<void> {
    this.#finish();
    await this.#sealing;
  }

  #begin(): [Segment, number] {
    const segment = openSegment(this.options.folder, this.#next);
    this.#bytes = 0;
    return [segment, writing(segment.file, () => openSync(segment.file, 'ax'))];
  }

  #turn(): void {
    this.#finish();
    [this.#segment, this.#descriptor] = this.#begin();
  }

  #finish(): void {
    const { folder, damaged } = this.options;
    const segment = this.#segment;
    this.flush();
    closeSync(this.#descriptor);
    this.#sealing = this.#sealing.then(() => seal(segment, folder, damaged));
  }
}

/** Replaces an open segment by a sealed one. */
async function seal(segment: Segment, folder: string, damaged: Damaged): Promise<void> {
  const events: readonly NumberedEvent[] = await readSegment(segment, damaged);
  if (events.length > 0) {
    const bytes = sealedBytes(events);
    writeFileAtomic(sealedSegment(folder, segment.first, bytes).file, bytes);
  }
  if (existsSync(segment.file)) writing(segment.file, () => rmSync(segment.file));
}
