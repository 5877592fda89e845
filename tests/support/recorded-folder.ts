import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import type { JournalEvent } from '#agent_rl/core/services/journal.ts';
import type { TranscriptRecord } from '#agent_rl/core/transcript.ts';
import type { Column, SentColumns } from '#agent_rl/runs/episodes/learned-record.ts';
import { rolloutEvent } from '#agent_rl/runs/journal/rollout-event.ts';
import { columnAt } from '#agent_rl/runs/query/parts.ts';
import { type RunFolder, runFolderAt } from '#agent_rl/runs/run-folder.ts';
import type { LearnedPart, SentSequence } from '#agent_rl/trainer/learned-parts.ts';
import { addEvents, endsOf } from './journal.ts';
import { member, played } from './rollouts.ts';

export type RecordedEpisode = Parameters<typeof member>[0] & { iteration: number };

const ofRun = { run: 'run', when: 'train' } as const;

/** The event of a rollout with one part, by default of 2 prompt tokens and 3 sampled ones. */
export const episodeEvent = (given: RecordedEpisode): JournalEvent =>
  rolloutEvent(played({ ...ofRun, ...given }), []);

/** A folder with a `config.yaml`, as that of a run. */
export function recordedFolder(parent: string, name: string, config: object = {}): RunFolder {
  const folder = runFolderAt(join(parent, name));
  mkdirSync(folder.path, { recursive: true });
  const whole = { run: { seed: 7 }, train: { iterations: 4, mode: 'rl' }, ...config };
  writeFileSync(folder.config, stringify(whole));
  return folder;
}

/** Adds events to the journal of a run, and after them the ends of their iterations and evaluations. */
export const record = ({ path }: RunFolder, ...events: JournalEvent[]): string =>
  addEvents(path, [...events, ...endsOf(events)]);

type Learned = RecordedEpisode &
  Partial<Pick<LearnedPart, 'use' | 'advantage'>> & {
    /** Of each sequence; columns are over its sampled tokens. */
    sent?: readonly (SentColumns | null)[];
  };

/** What an update made of an episode. */
export function learnedPart({ use = 'trained', advantage, sent = [], ...given }: Learned) {
  const one = member({ ...ofRun, ...given });
  const sequences = one.part.sequences.map((sequence, index) => {
    const columns = sent[index];
    return columns ? sentSequence(sequence, columns) : undefined;
  });
  return { ...one, use, advantage, sent: sequences } satisfies LearnedPart;
}

function sentSequence(sequence: TranscriptRecord, sent: SentColumns): SentSequence {
  const sampled = sequence.spans.filter(({ source }) => source === 'sampled');
  const spread = (column: Column): Float32Array => {
    const values = new Float32Array(sequence.tokens.length);
    let next = 0;
    for (const { start, end } of sampled)
      for (let at = start; at < end; at++) values[at] = columnAt(column, next++);
    return values;
  };
  const logProbs = spread(sent.logProbs);
  const datum = {
    tokens: Int32Array.from(sequence.tokens),
    weights: spread(sent.weights),
    advantages: spread(sent.advantages),
    oldLogProbs: Float32Array.from(sequence.logProbs),
  };
  return { datum, update: sent.update, logProbs, lastLogProbs: logProbs };
}
