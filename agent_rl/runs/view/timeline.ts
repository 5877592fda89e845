import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { isRecord } from '../../core/is-record.ts';
import { metricDefinition } from '../../telemetry/index.ts';
import type { RunFolder } from '../run-folder.ts';
import type { MetricColumns, Timeline, TimelineSpan } from './api.ts';
import type { EpisodeIndex } from './index/episode-index.ts';

/** A complete event of `profile.json`. */
interface TraceEvent {
  name: string;
  ph: string;
  tid: number;
  /** Microseconds. */
  ts: number;
  dur: number;
  args?: { name?: string; of?: string };
}

/** Spans of one row that a page can draw; the longest are kept. */
const mostSpans = 2000;

type Tracks = Exclude<Timeline['tracks'], null>;

/** The profile of a run, read when it is first asked for and again when it was written anew. */
export class RunProfile {
  #events: { mtimeMs: number; events: readonly TraceEvent[] } | undefined;

  constructor(private readonly folder: Pick<RunFolder, 'profile'>) {}

  /** Rows of one iteration; null where the run has no profile, or none of that iteration. */
  async tracks(iteration: number): Promise<Tracks | null> {
    const events = await this.#read();
    const own = events.filter(
      ({ ph, args }) => ph === 'X' && args?.of === `iteration ${iteration}`,
    );
    if (own.length === 0) return null;
    const start = own.reduce((least, { ts }) => Math.min(least, ts), Infinity);
    const end = own.reduce((most, { ts, dur }) => Math.max(most, ts + dur), 0);
    const names = events.filter(({ ph, name }) => ph === 'M' && name === 'thread_name');
    return names.flatMap(({ tid, args }) => {
      const within = events.filter(
        (event) =>
          event.ph === 'X' && event.tid === tid && event.ts < end && event.ts + event.dur > start,
      );
      if (within.length === 0) return [];
      const kept = within.toSorted((a, b) => b.dur - a.dur).slice(0, mostSpans);
      const spans = kept.toSorted((a, b) => a.ts - b.ts).map((event) => spanOf(event, start));
      return [{ name: args?.name ?? `row ${tid}`, spans, leftOut: within.length - kept.length }];
    });
  }

  async #read(): Promise<readonly TraceEvent[]> {
    const { profile } = this.folder;
    if (!existsSync(profile)) return [];
    const { mtimeMs } = statSync(profile);
    if (this.#events?.mtimeMs !== mtimeMs) {
      const trace: unknown = JSON.parse(await readFile(profile, 'utf8'));
      const events = isRecord(trace) ? trace['traceEvents'] : [];
      this.#events = { mtimeMs, events: Array.isArray(events) ? (events as TraceEvent[]) : [] };
    }
    return this.#events.events;
  }
}

const spanOf = ({ name, ts, dur, args }: TraceEvent, start: number): TimelineSpan => ({
  name,
  start: (ts - start) / 1e6,
  seconds: dur / 1e6,
  args: args?.of === undefined ? undefined : { of: args.of },
});

/** Seconds of an iteration by what they were spent on, from its metrics. */
export function activitiesOf(
  { iterations, columns }: MetricColumns,
  iteration: number,
): Timeline['activities'] {
  const at = iterations.indexOf(iteration);
  return Object.entries(columns).flatMap(([name, values]) => {
    const seconds = values[at];
    if (!name.startsWith('seconds/') || typeof seconds !== 'number') return [];
    const meaning = metricDefinition(name)?.description ?? '';
    return [{ name: name.slice('seconds/'.length), seconds, meaning }];
  });
}

/** Calls of the training episodes of an iteration, by tool. */
export async function toolsOf(index: EpisodeIndex, iteration: number): Promise<Timeline['tools']> {
  const tools = new Map<string, { name: string; calls: number; errors: number; ms: number }>();
  for (const episode of index.all()) {
    const { row } = episode;
    if (row.when !== 'train' || row.iteration !== iteration || row.calls === 0) continue;
    for (const { name, status, wallMs } of (await index.read(episode)).record.toolCalls) {
      const tool = tools.get(name) ?? { name, calls: 0, errors: 0, ms: 0 };
      tool.calls += 1;
      tool.errors += Number(status !== 'ok');
      tool.ms += wallMs;
      tools.set(name, tool);
    }
  }
  return [...tools.values()];
}
