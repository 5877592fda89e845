import { keyText } from '../../core/rollout.ts';
import type { JournalType } from '../../core/services/journal.ts';
import type { NumberedEvent } from './event-frame.ts';
import { publishedAs } from './recorded-rollouts.ts';
import { type Damaged, readSegment, segmentsOf } from './segments.ts';
import { isFinal, isVoid, sessionsOf } from './sessions.ts';

/** The events of an iteration or evaluation. */
export interface EventBatch {
  /** `train 3`, `before 0`. */
  name: string;
  /** In an order that time has no influence on. */
  events: readonly NumberedEvent[];
}

/** What of a journal is read. */
export interface JournalQuery {
  /** `train` for what was learned from, `eval` for held-out tasks; both by default. */
  file?: 'train' | 'eval' | undefined;
  /** Also what is under way, at the end. */
  unfinished?: boolean | undefined;
  damaged: Damaged;
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
 * @yields an iteration or evaluation; with the publications of the weights that drew it
 */
export async function* eventsInOrder(
  folder: string,
  { file, unfinished = false, damaged }: JournalQuery,
): AsyncGenerator<EventBatch> {
  // Damage is reported where everything is read.
  const sessions = await sessionsOf(folder, () => undefined);
  const held = new Map<string, Map<string, NumberedEvent>>();
  const published = new Map<string, NumberedEvent>();
  const given = new Set<string>();
  for (const segment of segmentsOf(folder))
    for (const event of await readSegment(segment, damaged)) {
      const { type, when, iteration } = event;
      if (type === 'publication') published.set(publishedAs(event), event);
      if (when === undefined || isVoid(event, sessions)) continue;
      if (file !== undefined && (when === 'train') !== (file === 'train')) continue;
      const name = `${when} ${iteration}`;
      const batch = held.get(name) ?? new Map<string, NumberedEvent>();
      held.set(name, batch);
      if (ranks[type] !== undefined) batch.set(placeText(event), event);
      const ends = type === 'iteration' || type === 'evaluation';
      if (!ends || !isFinal(event, sessions)) continue;
      held.delete(name);
      const events = inOrder([...batch.values()]);
      const weights = weightsOf(events, published, given);
      for (const one of weights) given.add(publishedAs(one));
      yield { name, events: [...weights, ...events] };
    }
  if (!unfinished) return;
  for (const [name, batch] of held) yield { name, events: inOrder([...batch.values()]) };
}

/**
 * The publications that were not `given` yet of weights that drew these events. A later one may have been made already, or not
 * yet; a resumed session makes an earlier one again.
 */
function weightsOf(
  events: readonly NumberedEvent[],
  published: ReadonlyMap<string, NumberedEvent>,
  given: ReadonlySet<string>,
): NumberedEvent[] {
  const drawnBy = events.reduce(
    (newest, { type, version = -1 }) =>
      type === 'generation' ? Math.max(newest, version) : newest,
    -1,
  );
  return [...published.values()]
    .filter((event) => !given.has(publishedAs(event)) && (event.version ?? 0) <= drawnBy)
    .toSorted((a, b) => a.version! - b.version!);
}

const drawnBefore = ({ data }: NumberedEvent): number => Number(data?.['drawn'] ?? 0);

/** What an event is about: a later one of the same place takes its place. */
export const placeText = (event: NumberedEvent): string => {
  const { type, attempt, agent, turn, call } = event;
  const of = event.sample === undefined ? '' : keyText(event as Required<NumberedEvent>);
  const version = type === 'publication' ? publishedAs(event) : undefined;
  return [type, of, version, attempt, agent, turn, drawnBefore(event), call]
    .filter((part) => part !== undefined)
    .join(' ');
};

/** By rollout, then by attempt and turn, and at one turn in the order in which things happen. */
const inOrder = (events: readonly NumberedEvent[]): NumberedEvent[] =>
  events.toSorted((a, b) => compared(orderOf(a), orderOf(b)));

const last = Number.MAX_SAFE_INTEGER;

function orderOf(event: NumberedEvent): number[] {
  const { type, round, slot, sample, attempt, turn = 0, call = 0 } = event;
  const isOfWhole = type === 'verdict' || type === 'rollout' || type === 'learned';
  const place = [round, slot, sample, attempt].map((part) => part ?? last);
  return [...place, isOfWhole ? last : turn, ranks[type] ?? 0, drawnBefore(event), call];
}

const compared = (a: readonly number[], b: readonly number[]): number => {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
};
