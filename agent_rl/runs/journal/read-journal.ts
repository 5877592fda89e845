import { messageOf } from '../../core/errors.ts';
import { keyText, type Member, membersOf, type Rollout } from '../../core/rollout.ts';
import { noVerdict } from '../../rollout/judged.ts';
import { episodeRecord } from '../episodes/episode-record.ts';
import type { LearnedRecord } from '../episodes/learned-record.ts';
import type { EpisodeRecord } from '../episodes/read-episodes.ts';
import type { NumberedEvent } from './event-frame.ts';
import { learnedOf, type Regrouped } from './learned-event.ts';
import { type Drawn, rolloutOf } from './rollout-event.ts';
import { type Damaged, readSegment, segmentsOf } from './segments.ts';
import { isFinal, isVoid, type JournalSession, sessionsOf } from './sessions.ts';

/** One agent's part in a rollout, and what the update made of it. */
export interface JournalPart {
  episode: EpisodeRecord;
  learned: LearnedRecord | undefined;
}

/** What a journal is read for. */
export interface JournalQuery {
  /** `train` for what was learned from, `eval` for held-out tasks. */
  file: 'train' | 'eval';
  /** Also the rollouts of what is under way, at the end. */
  unfinished?: boolean | undefined;
  damaged: Damaged;
}

/**
 * Reads the parts of a run, one iteration or evaluation at a time, in the order of their keys. What a resumed session
 * made again is given once.
 *
 * @yields the parts of one iteration or evaluation
 */
export async function* readParts(
  folder: string,
  { file, unfinished = false, damaged }: JournalQuery,
): AsyncGenerator<JournalPart[]> {
  const held = new HeldRollouts(await sessionsOf(folder, damaged), damaged);
  for (const segment of segmentsOf(folder))
    for (const event of await readSegment(segment, damaged)) {
      if ((event.when === 'train') !== (file === 'train')) continue;
      const ended = held.note(event);
      if (ended !== undefined) yield ended;
    }
  if (unfinished) yield* held.rest();
}

/** Rollouts of iterations and evaluations under way. */
class HeldRollouts {
  readonly #drawn = new Map<string, Map<number, Drawn>>();
  readonly #rollouts = new Map<string, Map<string, Rollout>>();
  readonly #learned = new Map<string, LearnedRecord & Regrouped>();

  constructor(
    private readonly sessions: readonly JournalSession[],
    private readonly damaged: Damaged,
  ) {}

  /** @returns the parts of the iteration or evaluation that the event ends */
  note(event: NumberedEvent): JournalPart[] | undefined {
    const { type, when, iteration } = event;
    if (isVoid(event, this.sessions)) return undefined;
    if (type === 'generation') this.#draw(event);
    if (type === 'rollout') this.#end(event);
    if (type === 'learned') this.#learned.set(partName(event), learnedOf(event));
    const ends = type === 'iteration' || type === 'evaluation';
    if (!ends || !isFinal(event, this.sessions)) return undefined;
    const parts = this.#take(`${when} ${iteration}`);
    return parts.length > 0 ? parts : undefined;
  }

  *rest(): Generator<JournalPart[]> {
    for (const name of this.#rollouts.keys()) {
      const parts = this.#take(name);
      if (parts.length > 0) yield parts;
    }
  }

  #draw(event: NumberedEvent): void {
    const name = keyText(event as Required<NumberedEvent>);
    const known = this.#drawn.get(name) ?? new Map<number, Drawn>();
    known.set(event.seq, drawnOf(event));
    this.#drawn.set(name, known);
  }

  #end(event: NumberedEvent): void {
    const name = keyText(event as Required<NumberedEvent>);
    const drawn = this.#drawn.get(name);
    const batch = `${event.when} ${event.iteration}`;
    const batches = this.#rollouts.get(batch) ?? new Map<string, Rollout>();
    this.#rollouts.set(batch, batches);
    try {
      batches.set(
        name,
        rolloutOf(event, (seq) => drawn?.get(seq)),
      );
    } catch (thrown) {
      this.damaged(`event ${event.seq}, rollout ${name}: ${messageOf(thrown)}`);
    }
  }

  #take(batch: string): JournalPart[] {
    const rollouts = [...(this.#rollouts.get(batch)?.values() ?? [])].toSorted(byKey);
    this.#rollouts.delete(batch);
    for (const { key } of rollouts) this.#drawn.delete(keyText(key));
    return rollouts.flatMap(membersOf).map((member) => {
      const name = `${keyText(member.rollout.key)} ${member.part.agent}`;
      const learned = this.#learned.get(name);
      this.#learned.delete(name);
      return { episode: episodeRecord(regrouped(member, learned)), learned };
    });
  }
}

const partName = (event: NumberedEvent): string =>
  `${keyText(event as Required<NumberedEvent>)} ${event.agent}`;

const byKey = ({ key: a }: Rollout, { key: b }: Rollout): number =>
  a.round - b.round || a.slot - b.slot || a.sample - b.sample;

/** The rollout of an event, with the events of what was drawn in it. @throws Error where one is missing */
export function rolloutWith(event: NumberedEvent, drawn: readonly NumberedEvent[]): Rollout {
  const bySeq = new Map(drawn.map((one) => [one.seq, one]));
  return rolloutOf(event, (seq) => {
    const found = bySeq.get(seq);
    return found && drawnOf(found);
  });
}

const drawnOf = ({ seq, tokens = new Int32Array(), columns }: NumberedEvent): Drawn => ({
  seq,
  tokens,
  logProbs: columns?.logProbs ?? new Float32Array(),
});

/** A part as its group's reward manager left it. */
export function regrouped({ rollout, part }: Member, learned: Regrouped | undefined): Member {
  if (learned === undefined) return { rollout, part };
  const { groupReward, unjudged } = learned;
  if (unjudged === undefined) return { rollout, part: { ...part, groupReward } };
  return { rollout, part: { ...part, ...noVerdict, outcome: 'grader-error', unjudged } };
}
