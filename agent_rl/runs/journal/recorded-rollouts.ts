import type { Generation } from '../../core/services/generator.ts';
import type { JournalEvent, RecordedCall } from '../../core/services/journal.ts';
import type { ExecutedCall } from '../../core/plugins/environment.ts';
import { type FailedAttempt, isJudged, keyText, type Rollout } from '../../core/rollout.ts';
import type { NumberedEvent } from './event-frame.ts';
import { type Drawn, rolloutOf } from './rollout-event.ts';
import { type Damaged, readSegment, segmentsOf } from './segments.ts';

/** What an earlier session recorded of one attempt at a rollout. */
export interface RecordedAttempt {
  readonly drawn: Drawn[];
  /** By what was asked. */
  readonly answers: Map<string, Generation>;
  /** By `callName`. */
  readonly calls: Map<string, RecordedCall>;
}

/** What earlier sessions recorded of one rollout. */
export interface RecordedRollout {
  readonly attempts: Map<number, RecordedAttempt>;
  readonly failed: FailedAttempt[];
  /** The newest that was judged. */
  ended: NumberedEvent | undefined;
}

export const callName = ({ agent, turn, call }: Pick<JournalEvent, 'agent' | 'turn' | 'call'>) =>
  `${agent} ${turn} ${call}`;

export const attemptOf = ({ attempts }: RecordedRollout, index: number): RecordedAttempt => {
  const known = attempts.get(index);
  if (known !== undefined) return known;
  const made: RecordedAttempt = { drawn: [], answers: new Map(), calls: new Map() };
  attempts.set(index, made);
  return made;
};

export const newRollout = (): RecordedRollout => ({
  attempts: new Map(),
  failed: [],
  ended: undefined,
});

/** The rollouts, evaluations included, that a session may take from those before it, and the weights that drew them. */
export interface RecordedWork {
  readonly rollouts: Map<string, RecordedRollout>;
  /** Hash of published weights by `publishedAs`; null where they could not be hashed. */
  readonly published: Map<string, string | null>;
}

/** The version of published weights, and the named policy that they are of. */
export const publishedAs = ({ version, data }: Pick<NumberedEvent, 'version' | 'data'>): string =>
  [version, ...(typeof data?.['policy'] === 'string' ? [data['policy']] : [])].join(' ');

/**
 * Reads what was recorded after an iteration.
 *
 * @param from iterations done at the checkpoint; undefined for all
 */
export async function recordedAfter(
  folder: string,
  from: number | undefined,
  damaged: Damaged,
): Promise<RecordedWork> {
  const work: RecordedWork = { rollouts: new Map(), published: new Map() };
  for (const event of await eventsAfter(folder, from ?? -1, damaged)) note(work, event, from ?? -1);
  return work;
}

/** Backwards, up to a segment in which an iteration before the checkpoint is complete: no later one had begun before. */
async function eventsAfter(
  folder: string,
  from: number,
  damaged: Damaged,
): Promise<NumberedEvent[]> {
  const read: NumberedEvent[][] = [];
  for (const segment of segmentsOf(folder).toReversed()) {
    const events = await readSegment(segment, damaged);
    read.push(events);
    if (events.some(({ type, iteration = 0 }) => type === 'iteration' && iteration < from)) break;
  }
  return read.toReversed().flat();
}

/** Whether an event may be needed by a session that continues after an iteration. */
const isAfter = ({ when, iteration = 0 }: NumberedEvent, from: number): boolean =>
  when === 'train' ? iteration > from : iteration >= from;

function note(work: RecordedWork, event: NumberedEvent, from: number): void {
  const { type, data = {} } = event;
  if (type === 'publication')
    work.published.set(publishedAs(event), (data['sha256'] as string) ?? null);
  if (type === 'session' && data['voids'] === true) forget(work, Number(data['from'] ?? -1));
  if (event.when === undefined || event.sample === undefined || !isAfter(event, from)) return;
  const name = keyText(event as Required<NumberedEvent>);
  const rollout = work.rollouts.get(name) ?? newRollout();
  work.rollouts.set(name, rollout);
  noteOf(rollout, event);
}

/** Drops what a later session did not continue. */
function forget({ rollouts }: RecordedWork, from: number): void {
  for (const name of rollouts.keys()) {
    const [when, iteration] = name.split('/');
    if (isAfter({ when, iteration: Number(iteration) } as NumberedEvent, from))
      rollouts.delete(name);
  }
}

function noteOf(rollout: RecordedRollout, event: NumberedEvent): void {
  const { type, attempt = 0, data = {} } = event;
  if (type === 'attempt-failed') rollout.failed.push(data as unknown as FailedAttempt);
  if (type === 'rollout') {
    const { parts } = data as unknown as Pick<Rollout, 'parts'>;
    rollout.ended = isJudged({ parts }) ? event : undefined;
    // Its attempt is played again and must not find the answers that failed it.
    if (rollout.ended === undefined) rollout.attempts.delete(attempt);
  }
  if (type === 'generation') noteGeneration(attemptOf(rollout, attempt), event);
  if (type === 'call-begun' || type === 'call-ended') {
    const { calls } = attemptOf(rollout, attempt);
    const ended = type === 'call-ended' ? (data as unknown as ExecutedCall) : undefined;
    calls.set(callName(event), { ended });
  }
}

function noteGeneration(attempt: RecordedAttempt, event: NumberedEvent): void {
  const { seq, tokens = new Int32Array(), columns, version = 0, data = {} } = event;
  const logProbs = columns?.logProbs ?? new Float32Array();
  attempt.drawn.push({ seq, tokens, logProbs });
  attempt.answers.set(String(data['asked']), {
    tokens: Array.from(tokens),
    logProbs: Array.from(logProbs),
    stop: data['stop'] as Generation['stop'],
    version,
  });
}

/** The completed rollout; undefined where some of it cannot be read. */
export function completedOf({ ended, attempts }: RecordedRollout): Rollout | undefined {
  if (ended === undefined) return undefined;
  const drawn = new Map(
    [...attempts.values()].flatMap(({ drawn: all }) => all).map((one) => [one.seq, one]),
  );
  try {
    return rolloutOf(ended, (seq) => drawn.get(seq));
  } catch {
    return undefined;
  }
}
