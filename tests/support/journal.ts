import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { JournalEvent } from '#agent_rl/core/services/journal.ts';
import type { Member, Part, Rollout } from '#agent_rl/core/rollout.ts';
import {
  type EpisodeFile,
  episodesOf,
  type EpisodeRecord,
} from '#agent_rl/runs/episodes/read-episodes.ts';
import { frameOf } from '#agent_rl/runs/journal/event-frame.ts';
import { learnedEvent } from '#agent_rl/runs/journal/learned-event.ts';
import type { JournalPart } from '#agent_rl/runs/journal/read-journal.ts';
import { rolloutEvent } from '#agent_rl/runs/journal/rollout-event.ts';
import { openSegment } from '#agent_rl/runs/journal/segments.ts';
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
export function journalOf({
  rollouts = [],
  learned = [],
  session,
}: WrittenJournal): JournalEvent[] {
  const batches = new Map<string, Rollout[]>();
  for (const one of rollouts) {
    const name = `${one.key.when} ${one.key.iteration}`;
    batches.set(name, [...(batches.get(name) ?? []), one]);
  }
  return [
    sessionEvent(session),
    ...[...batches.values()].flatMap((batch) => {
      const { when, iteration } = batch[0]!.key;
      const own = learned.filter(
        ({ rollout: { key } }) => key.when === when && key.iteration === iteration,
      );
      const end: JournalEvent = {
        type: when === 'train' ? 'iteration' : 'evaluation',
        when,
        iteration,
      };
      return [...batch.map((one) => rolloutEvent(one, [])), ...own.map(learnedEvent), end];
    }),
  ];
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

/** Writes the journal of a run that played these rollouts. @returns its file */
export const writeJournal = (run: string, written: WrittenJournal): string =>
  writeEvents(run, journalOf(written));

/** The rollouts of members; those of one rollout stand together in it. */
export function rolloutsOfMembers(members: readonly Member[]): Rollout[] {
  const parts = new Map<Rollout, Part[]>();
  for (const { rollout, part } of members)
    parts.set(rollout, [...(parts.get(rollout) ?? []), part]);
  return [...parts].map(([rollout, own]) => ({ ...rollout, parts: own }));
}

/** The parts of a run, with what updates made of them. */
export async function partsIn(run: string, file: EpisodeFile): Promise<JournalPart[]> {
  const all: JournalPart[] = [];
  for await (const parts of episodesOf({ journal: join(run, 'journal') }, { file }))
    all.push(...parts);
  return all;
}

/** The episodes of a run, as records. */
export const episodesIn = async (run: string, file: EpisodeFile): Promise<EpisodeRecord[]> =>
  (await partsIn(run, file)).map(({ episode }) => episode);
