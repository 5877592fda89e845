import { isDeepStrictEqual } from 'node:util';

import { isRecord } from '../../core/is-record.ts';
import { journalColumns } from '../../core/services/journal.ts';
import type { NumberedEvent } from './event-frame.ts';
import { type EventBatch, placeText } from './events-in-order.ts';

/** Where two runs first did something else. */
export interface Divergence {
  /** `train 3`. */
  batch: string;
  /** The event, with the rollout that it is of: `generation train/3/0/2/1 0 policy 1`. */
  event: string;
  /** What of it: `tokens[12]`, `result.content`. */
  at: string;
  a: unknown;
  b: unknown;
}

/** What depends on time, place or the order of other rollouts. */
const incidental = /^(?:run|seconds|drawn)$|(?:Ms|Bytes)$/;

/** The first event in which one batch differs from another of the same name. */
function divergenceIn(a: EventBatch, b: EventBatch): Divergence | undefined {
  const others = new Map(b.events.map((event) => [placeText(event), event]));
  for (const event of a.events) {
    const name = placeText(event);
    const other = others.get(name);
    others.delete(name);
    const found = other === undefined ? absent('b') : differenceOf(event, other);
    if (found !== undefined) return { batch: a.name, event: name, ...found };
  }
  const [more] = others.keys();
  return more === undefined ? undefined : { batch: a.name, event: more, ...absent('a') };
}

const said = ({ version, data }: NumberedEvent) => ({ version, ...data });

type Difference = Pick<Divergence, 'at' | 'a' | 'b'>;

const absent = (side: 'a' | 'b'): Difference => ({
  at: 'event',
  a: side === 'a' ? 'absent' : 'recorded',
  b: side === 'b' ? 'absent' : 'recorded',
});

function differenceOf(a: NumberedEvent, b: NumberedEvent): Difference | undefined {
  for (const name of ['tokens', ...journalColumns] as const) {
    const [one, other] = [a, b].map((event) =>
      name === 'tokens' ? event.tokens : event.columns?.[name],
    );
    const length = Math.max(one?.length ?? 0, other?.length ?? 0);
    for (let at = 0; at < length; at++)
      if (one?.[at] !== other?.[at])
        return { at: `${name}[${at}]`, a: one?.[at] ?? 'ends', b: other?.[at] ?? 'ends' };
  }
  return within(said(a), said(b), '');
}

function within(a: unknown, b: unknown, at: string): Difference | undefined {
  if (isDeepStrictEqual(a, b)) return undefined;
  if (!(isRecord(a) || Array.isArray(a)) || !(isRecord(b) || Array.isArray(b)))
    return { at, a: a ?? 'absent', b: b ?? 'absent' };
  const [one, other] = [a, b] as [Record<string, unknown>, Record<string, unknown>];
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    if (incidental.test(key)) continue;
    const path = at === '' ? key : `${at}.${key}`;
    const found = within(one[key], other[key], path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What two runs did, as far as both go, up to the first event in which they differ. */
export async function firstDivergence(
  a: AsyncGenerator<EventBatch>,
  b: AsyncGenerator<EventBatch>,
): Promise<{ batches: number; events: number; first?: Divergence }> {
  let [batches, events] = [0, 0];
  try {
    for (;;) {
      const [one, other] = [await a.next(), await b.next()];
      if (one.done === true || other.done === true) return { batches, events };
      const named = one.value.name === other.value.name;
      const first = named
        ? divergenceIn(one.value, other.value)
        : {
            batch: one.value.name,
            event: 'batch',
            at: 'name',
            a: one.value.name,
            b: other.value.name,
          };
      if (first !== undefined) return { batches, events, first };
      batches += 1;
      events += one.value.events.length;
    }
  } finally {
    await Promise.all([a.return(undefined), b.return(undefined)]);
  }
}
