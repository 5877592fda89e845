import { setTimeout } from 'node:timers/promises';
import { BroadcastChannel } from 'node:worker_threads';

import { recordSpans, type Span, spanChannel } from '../core/profile/spans.ts';
import { writeFileAtomic } from './atomic-write.ts';

/** Beyond this many no more are kept: the file would not open any more. */
const mostSpans = 1_000_000;
/** Until what threads have still to send is here. */
const lastSentMs = 100;

/** Listens to what all threads of this process do, until it is written as a trace that Chrome, Edge and Perfetto open. */
export class Profile {
  readonly #channel = new BroadcastChannel(spanChannel);
  readonly #spans: Span[] = [];
  #left = 0;

  private constructor(most: number) {
    this.#channel.addEventListener('message', (message) => {
      const { data } = message as unknown as { data: readonly Span[] };
      const kept = data.slice(0, most - this.#spans.length);
      this.#left += data.length - kept.length;
      for (const span of kept) this.#spans.push(span);
    });
    this.#channel.unref();
  }

  /** Before the threads are started whose work is to be seen. */
  static start(most = mostSpans): Profile {
    const profile = new Profile(most);
    recordSpans(true);
    return profile;
  }

  /** @returns how many spans were written, and how many were too many */
  async write(file: string): Promise<{ written: number; left: number }> {
    await setTimeout(lastSentMs);
    writeFileAtomic(file, JSON.stringify({ traceEvents: traceEvents(this.#spans) }));
    return { written: this.#spans.length, left: this.#left };
  }

  close(): void {
    recordSpans(false);
    this.#channel.close();
  }
}

const microseconds = (ms: number): number => Math.round(1000 * ms);

/** Rows with a name and what happened in them, in the format of Chrome's trace viewer. */
export function traceEvents(spans: readonly Span[]): readonly object[] {
  const start = spans.reduce((least, { from }) => Math.min(least, from), Infinity);
  const names: string[] = [];
  const rowOf = rows(spans, (name) => names.push(name));
  const events = spans.map((span) => ({
    name: span.name,
    ph: 'X',
    pid: 1,
    tid: rowOf(span),
    ts: microseconds(span.from - start),
    dur: microseconds(span.to - span.from),
    args: span.group === undefined ? undefined : { of: span.group },
  }));
  const titles = names.flatMap((name, row) => [
    { name: 'thread_name', ph: 'M', pid: 1, tid: row + 1, args: { name } },
    { name: 'thread_sort_index', ph: 'M', pid: 1, tid: row + 1, args: { sort_index: row } },
  ]);
  return [...titles, ...events];
}

/** Spans that are shown in one row. */
interface Part {
  track: string;
  spans: Span[];
  from: number;
  to: number;
}

/** The spans of a group together, the others each by itself. */
function partsOf(spans: readonly Span[]): Part[] {
  const parts: Part[] = [];
  const groups = new Map<string, Part>();
  for (const span of spans) {
    const { track, group, from, to } = span;
    const id = JSON.stringify([track, group]);
    const known = group === undefined ? undefined : groups.get(id);
    const part = known ?? { track, spans: [], from, to };
    part.spans.push(span);
    part.from = Math.min(part.from, from);
    part.to = Math.max(part.to, to);
    if (known !== undefined) continue;
    parts.push(part);
    groups.set(id, part);
  }
  return parts.toSorted((a, b) => a.from - b.from || b.to - a.to);
}

/** Gives each part a row in which nothing overlaps it, as few as there can be, tracks in the order of their names. */
function rows(spans: readonly Span[], addRow: (name: string) => number): (span: Span) => number {
  const placed = new Map<Span, number>();
  const parts = partsOf(spans);
  for (const track of [...new Set(parts.map((part) => part.track))].toSorted()) {
    const own: { row: number; free: number }[] = [];
    for (const part of parts.filter((one) => one.track === track)) {
      let place = own.find(({ free }) => free <= part.from);
      if (place === undefined) {
        place = { row: addRow(own.length === 0 ? track : `${track}, ${own.length + 1}`), free: 0 };
        own.push(place);
      }
      place.free = part.to;
      for (const span of part.spans) placed.set(span, place.row);
    }
  }
  return (span) => placed.get(span)!;
}
