import type { JournalColumn, JournalEvent } from '../../core/services/journal.ts';
import type { Part } from '../../core/rollout.ts';
import type { LearnedPart } from '../../trainer/learned-parts.ts';
import {
  type Column,
  type LearnedRecord,
  learnedRecord,
  type SentColumns,
} from '../episodes/learned-record.ts';
import type { NumberedEvent } from './event-frame.ts';

/** How its group's reward manager changed a part. */
export type Regrouped = Pick<Part, 'groupReward' | 'unjudged'>;

/** What the columns of a sequence are called in the journal. */
const columnNames = {
  weights: 'weights',
  advantages: 'advantages',
  logProbs: 'learnerLogProbs',
  lastLogProbs: 'lastLogProbs',
  oldLogProbs: 'oldLogProbs',
  refLogProbs: 'refLogProbs',
} as const satisfies Record<Exclude<keyof SentColumns, 'update'>, JournalColumn>;

const columns = Object.keys(columnNames) as (keyof typeof columnNames)[];

/** A sequence without the numbers that differ from token to token: of such a column, how many it has. */
interface WrittenSent {
  readonly update: number;
  readonly constant: Partial<Record<keyof typeof columnNames, number>>;
  readonly counts: Partial<Record<keyof typeof columnNames, number>>;
}

type WrittenLearned = Pick<LearnedRecord, 'taskId' | 'use' | 'advantage' | 'turnAdvantages'> &
  Regrouped & { readonly run: string; readonly sent: readonly (WrittenSent | null)[] };

/** What an update made of a part, as an event. */
export function learnedEvent(learned: LearnedPart): JournalEvent {
  const { sent, run, agent, taskId, use, advantage, turnAdvantages, ...place } =
    learnedRecord(learned);
  const { groupReward, unjudged } = learned.part;
  const numbers = new Map<JournalColumn, number[]>();
  const written = (of: SentColumns): WrittenSent => {
    const one: { constant: Record<string, number>; counts: Record<string, number> } = {
      constant: {},
      counts: {},
    };
    for (const name of columns) {
      const column = of[name];
      if (typeof column === 'number') one.constant[name] = column;
      else if (column !== undefined) {
        one.counts[name] = column.length;
        const known = numbers.get(columnNames[name]) ?? [];
        numbers.set(columnNames[name], known.concat(column));
      }
    }
    return { update: of.update, ...one };
  };
  const data: WrittenLearned = {
    run,
    taskId,
    use,
    advantage,
    turnAdvantages,
    groupReward,
    unjudged,
    sent: sent.map((one) => one && written(one)),
  };
  const floats = [...numbers].map(([name, values]) => [name, Float32Array.from(values)]);
  return {
    type: 'learned',
    ...place,
    agent,
    data: { ...data },
    ...(floats.length > 0 && { columns: Object.fromEntries(floats) }),
  };
}

/** What such an event says. */
export function learnedOf(event: NumberedEvent): LearnedRecord & Regrouped {
  const { when, iteration, round, slot, sample, agent, data, columns: numbers } = event;
  const { sent, ...said } = data as unknown as WrittenLearned;
  const read = new Map<JournalColumn, number>();
  const take = (name: JournalColumn, count: number): number[] => {
    const from = read.get(name) ?? 0;
    read.set(name, from + count);
    return Array.from(numbers?.[name]?.subarray(from, from + count) ?? []);
  };
  const sequence = ({ update, constant, counts }: WrittenSent): SentColumns => {
    const own: Partial<Record<string, Column>> = { ...constant };
    for (const name of columns) {
      const count = counts[name];
      if (count !== undefined) own[name] = take(columnNames[name], count);
    }
    return { update, ...own } as unknown as SentColumns;
  };
  const key = { when, iteration, round, slot, sample, agent } as Required<
    Pick<NumberedEvent, 'when' | 'iteration' | 'round' | 'slot' | 'sample' | 'agent'>
  >;
  return { ...key, ...said, sent: sent.map((one) => one && sequence(one)) };
}
