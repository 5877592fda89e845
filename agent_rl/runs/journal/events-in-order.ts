import { keyText } from '../../core/rollout.ts';
import type { JournalType } from '../../core/services/journal.ts';
import type { NumberedEvent } from './event-frame.ts';
import { type Damaged, readSegment, segmentsOf } from './segments.ts';
import { isFinal, isVoid, sessionsOf } from './sessions.ts';

/** The events of an iteration or evaluation. */
export interface EventBatch {
  /** `train 3`, `before 0`. */
  name: string;
  /** In an order that time has no influence on. */
  events: readonly NumberedEvent[];
}

/** The order of events at one place of a rollout. */
const ranks: Partial<Record<JournalType, number>> = {
  generation: 0,
  'call-ended': 1,
  step: 2,
  verdict: 3,
  rollout: 4,
  learned: 5,
  update: 6,
};

/**
 * Reads what a run did, batch by batch. What a resumed session made again is given once.
 *
 * @yields an iteration or evaluation; with an iteration the publications of the weights that it changed
 */
export async function* eventsInOrder(folder: string, damaged: Damaged): AsyncGenerator<EventBatch> {
  const sessions = await sessionsOf(folder, damaged);
  const held = new Map<string, Map<string, NumberedEvent>>();
  const published = new Map<number, NumberedEvent>();
  for (const segment of segmentsOf(folder))
    for (const event of await readSegment(segment, damaged)) {
      const { type, when, iteration, version = 0 } = event;
      if (type === 'publication') published.set(version, event);
      if (when === undefined || isVoid(event, sessions)) continue;
      const name = `${when} ${iteration}`;
      const batch = held.get(name) ?? new Map<string, NumberedEvent>();
      held.set(name, batch);
      if (ranks[type] !== undefined) batch.set(placeText(event), event);
      const ends = type === 'iteration' || type === 'evaluation';
      if (!ends || !isFinal(event, sessions)) continue;
      held.delete(name);
      const events = inOrder([...batch.values()]);
      yield { name, events: [...weightsBefore(published, events), ...events] };
    }
}

/** Takes the publications of weights that an update changed. A later one may have been made already, or not yet. */
function weightsBefore(
  published: Map<number, NumberedEvent>,
  events: readonly NumberedEvent[],
): NumberedEvent[] {
  const steps = Number(events.find(({ type }) => type === 'update')?.data?.['steps'] ?? 0);
  const before = [...published.values()].filter(({ version = 0 }) => version < steps);
  for (const { version = 0 } of before) published.delete(version);
  return before.toSorted((a, b) => a.version! - b.version!);
}

/** What an event is about: a later one of the same place takes its place. */
export const placeText = (event: NumberedEvent): string => {
  const { type, attempt, agent, turn, call, data = {} } = event;
  const of = event.sample === undefined ? '' : keyText(event as Required<NumberedEvent>);
  const drawn = data['drawn'] ?? 0;
  return [type, of, attempt, agent, turn, drawn, call]
    .filter((part) => part !== undefined)
    .join(' ');
};

/** By rollout, then by attempt and turn, and at one turn in the order in which things happen. */
export const inOrder = (events: readonly NumberedEvent[]): NumberedEvent[] =>
  events.toSorted((a, b) => compared(orderOf(a), orderOf(b)));

const last = Number.MAX_SAFE_INTEGER;

function orderOf({ type, round, slot, sample, attempt, ...event }: NumberedEvent): number[] {
  const { turn, call = 0 } = event;
  const isOfWhole = type === 'verdict' || type === 'rollout' || type === 'learned';
  const place = [round, slot, sample].map((part) => part ?? last);
  const drawn = Number(event.data?.['drawn'] ?? 0);
  return [...place, attempt ?? last, isOfWhole ? last : (turn ?? 0), ranks[type] ?? 0, drawn, call];
}

const compared = (a: readonly number[], b: readonly number[]): number => {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
};
