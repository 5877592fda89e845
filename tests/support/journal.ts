import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import { append, groupBy } from '#agent_rl/core/long-lists.ts';
import type { JournalEvent } from '#agent_rl/core/services/journal.ts';
import type { Member, Rollout } from '#agent_rl/core/rollout.ts';
import {
  type EpisodeFile,
  episodesOf,
  type EpisodeRecord,
} from '#agent_rl/runs/episodes/read-episodes.ts';
import { frameOf, framesIn, type NumberedEvent } from '#agent_rl/runs/journal/event-frame.ts';
import { learnedEvent } from '#agent_rl/runs/journal/learned-event.ts';
import type { JournalPart } from '#agent_rl/runs/journal/read-journal.ts';
import { rolloutEvent } from '#agent_rl/runs/journal/rollout-event.ts';
import { openSegment, readSegment, segmentsOf } from '#agent_rl/runs/journal/segments.ts';
import { journalSchema } from '#agent_rl/runs/journal/sessions.ts';
import type { LearnedPart } from '#agent_rl/trainer/learned-parts.ts';

/** What a test writes into a journal: rollouts as they were played, and what updates made of their parts. */
export interface WrittenJournal {
  rollouts?: readonly Rollout[];
  learned?: readonly LearnedPart[];
  /** Other facts of the session. */
  session?: object;
}

/** The beginning of a session of a new run. */
export const sessionEvent = (facts: object = {}): JournalEvent => ({
  type: 'session',
  data: { schema: journalSchema, from: -1, voids: false, code: 'code', ...facts },
});

/** The events of a run that played these rollouts, iteration by iteration and evaluation by evaluation, in this order. */
function journalOf({ rollouts = [], learned = [], session }: WrittenJournal): JournalEvent[] {
  const events = [sessionEvent(session)];
  for (const [name, batch] of groupBy(rollouts, batchName)) {
    const own = learned.filter(({ rollout }) => batchName(rollout) === name);
    const ofBatch = [...batch.map((one) => rolloutEvent(one, [])), ...own.map(learnedEvent)];
    append(events, [...ofBatch, ...endsOf(ofBatch)]);
  }
  return events;
}

const batchName = ({ key: { when, iteration } }: Rollout): string => `${when} ${iteration}`;

/** The ends of the iterations and evaluations that events are of. */
export function endsOf(events: readonly JournalEvent[]): JournalEvent[] {
  const ends = events.map(
    ({ when = 'train', iteration = 0 }) =>
      [
        `${when} ${iteration}`,
        { type: when === 'train' ? 'iteration' : 'evaluation', when, iteration },
      ] as const,
  );
  return [...new Map(ends).values()];
}

/** Writes an open segment with these events into the journal of a run's folder. @returns its file */
export function writeEvents(run: string, events: readonly JournalEvent[], first = 0): string {
  const folder = join(run, 'journal');
  mkdirSync(folder, { recursive: true });
  const { file } = openSegment(folder, first);
  const frames = events.map((event, index) => frameOf({ seq: first + index, ...event }));
  writeFileSync(file, Buffer.concat(frames));
  return file;
}

/** Adds events to the open segment of a run's journal, which begins with a session. @returns its file */
export function addEvents(run: string, events: readonly JournalEvent[]): string {
  const { file } = openSegment(join(run, 'journal'), 0);
  if (!existsSync(file)) writeEvents(run, [sessionEvent()]);
  const first = [...framesIn(readFileSync(file))].length;
  const frames = events.map((event, index) => frameOf({ seq: first + index, ...event }));
  appendFileSync(file, Buffer.concat(frames));
  return file;
}

/** The frame of an event in which each `@@` is replaced by two bytes that are not UTF-8. */
export function brokenFrame(event: NumberedEvent): Buffer {
  const frame = frameOf(event);
  const json = frame.subarray('12345678 '.length, -1);
  for (let at = json.indexOf('@@'); at >= 0; at = json.indexOf('@@', at))
    json.set([0xff, 0xc3], at);
  frame.write(crc32(json).toString(16).padStart(8, '0'));
  return frame;
}

/** Changes a byte of the event at an index of an open segment. @returns where the event begins */
export function damageEvent(file: string, index: number): number {
  const bytes = readFileSync(file);
  const { offset, end } = [...framesIn(bytes)].at(index)!;
  bytes.writeUInt8(bytes.readUInt8(end - 2) ^ 1, end - 2);
  writeFileSync(file, bytes);
  return offset;
}

/** Every event of a run's journal. @throws Error where it is damaged */
export async function eventsOf(run: string): Promise<NumberedEvent[]> {
  const damaged = (problem: string): never => {
    throw new Error(problem);
  };
  const segments = segmentsOf(join(run, 'journal')).map((one) => readSegment(one, damaged));
  return (await Promise.all(segments)).flat();
}

/** Writes the journal of a run that played these rollouts. @returns its file */
export const writeJournal = (run: string, written: WrittenJournal): string =>
  writeEvents(run, journalOf(written));

/** The rollouts of members: parts of the same rollout are put together. */
export function rolloutsOfMembers(members: readonly Member[]): Rollout[] {
  const byRollout = groupBy(members, ({ rollout }) => rollout);
  return [...byRollout].map(([rollout, own]) =>
    Object.assign({}, rollout, { parts: own.map(({ part }) => part) }),
  );
}

/** The parts of a run, with what updates made of them. */
export async function partsIn(run: string, file: EpisodeFile): Promise<JournalPart[]> {
  const all: JournalPart[] = [];
  for await (const parts of episodesOf({ journal: join(run, 'journal') }, { file }))
    append(all, parts);
  return all;
}

/** The episodes of a run, as records. */
export const episodesIn = async (run: string, file: EpisodeFile): Promise<EpisodeRecord[]> =>
  (await partsIn(run, file)).map(({ episode }) => episode);
