import { isRecord } from '../../core/is-record.ts';
import type { NumberedEvent } from './event-frame.ts';
import { type Damaged, readSegment, segmentsOf } from './segments.ts';

/** The form of events; another number where it changes. */
export const journalSchema = 1;

/** A session of the run: what it wrote begins with this event, the first of a segment. */
export interface JournalSession {
  readonly seq: number;
  /** Iterations done at the checkpoint it continues from; -1 where the run began, or began again. */
  readonly from: number;
  /** Whether it takes nothing that was recorded after that. */
  readonly voids: boolean;
  readonly schema: number;
  /** Hash of the package's version and of the plugins' files. */
  readonly code: string;
}

/** The sessions of a journal, in order. */
export async function sessionsOf(folder: string, damaged: Damaged): Promise<JournalSession[]> {
  const sessions: JournalSession[] = [];
  for (const segment of segmentsOf(folder)) {
    const [event] = await readSegment(segment, damaged, 'session');
    if (event?.type !== 'session' || !isRecord(event.data)) continue;
    const { from, voids, schema, code } = event.data;
    sessions.push({
      seq: event.seq,
      from: Number(from),
      voids: voids === true,
      schema: Number(schema),
      code: String(code),
    });
  }
  return sessions;
}

/** The newest session; undefined in a new journal. */
export const lastSession = async (
  folder: string,
  damaged: Damaged,
): Promise<JournalSession | undefined> => (await sessionsOf(folder, damaged)).at(-1);

/** Whether a session makes again what an event is of: everything after its checkpoint, and the evaluation after training. */
const makesAgain = (
  { from }: JournalSession,
  { when, iteration = 0 }: Pick<NumberedEvent, 'when' | 'iteration'>,
): boolean => iteration > from || when === 'after';

/** Whether no later session makes it again. */
export const isFinal = (event: NumberedEvent, sessions: readonly JournalSession[]): boolean =>
  !sessions.some((one) => one.seq > event.seq && makesAgain(one, event));

/** Whether a later session makes it again without what was recorded. */
export const isVoid = (event: NumberedEvent, sessions: readonly JournalSession[]): boolean =>
  sessions.some((one) => one.voids && one.seq > event.seq && makesAgain(one, event));
