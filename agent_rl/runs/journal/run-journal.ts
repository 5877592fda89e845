import type { ExecutedCall, Verdict } from '../../core/plugins/environment.ts';
import {
  type FailedAttempt,
  keyText,
  onlyAgent,
  type Rollout,
  type RolloutKey,
} from '../../core/rollout.ts';
import type { Generation, RandomKey } from '../../core/services/generator.ts';
import type {
  AttemptJournal,
  CallPlace,
  GenerationJournal,
  JournalEvent,
  RecordedCall,
  RolloutJournal,
} from '../../core/services/journal.ts';
import type { JournalWriter } from './journal-writer.ts';
import {
  attemptOf,
  callName,
  completedOf,
  newRollout,
  publishedAs,
  type RecordedAttempt,
  type RecordedWork,
} from './recorded-rollouts.ts';
import { rolloutEvent } from './rollout-event.ts';

/** What a session took from those before it. */
export interface Taken {
  rollouts: number;
  turns: number;
  calls: number;
  /** Rollouts whose environment could not be brought back. */
  begunAnew: number;
}

type Draws = Pick<RandomKey, 'seed' | 'taskId' | 'sample'>;

const drawsName = ({ seed, taskId, sample }: Draws): string =>
  JSON.stringify([seed, taskId, sample]);

/** The journal of a run in one session: what was recorded before answers, and what happens is recorded. */
export class RunJournal implements RolloutJournal, GenerationJournal {
  readonly taken: Taken = { rollouts: 0, turns: 0, calls: 0, begunAnew: 0 };
  /** Attempts under way, by what their draws are keyed by. */
  readonly #open = new Map<string, OpenAttempt>();

  constructor(
    private readonly writer: JournalWriter,
    private readonly recorded: RecordedWork,
    private readonly warn: (text: string) => void,
  ) {}

  write(event: JournalEvent): number {
    return this.writer.write(event);
  }

  flush(): void {
    this.writer.flush();
  }

  synced(): void | Promise<void> {
    return this.writer.synced();
  }

  completed(key: RolloutKey): Rollout | undefined {
    const name = keyText(key);
    const found = this.recorded.rollouts.get(name);
    const rollout = found && completedOf(found);
    if (rollout === undefined) return undefined;
    this.recorded.rollouts.delete(name);
    this.taken.rollouts += 1;
    return { ...rollout, key };
  }

  failedAttempts(key: RolloutKey): readonly FailedAttempt[] {
    return this.recorded.rollouts.get(keyText(key))?.failed ?? [];
  }

  begin(key: RolloutKey, draws: Draws, attempt: number): AttemptJournal {
    const rollout = this.recorded.rollouts.get(keyText(key)) ?? newRollout();
    const open = new OpenAttempt(this, { key, draws, attempt }, attemptOf(rollout, attempt));
    this.#open.set(drawsName(draws), open);
    return open;
  }

  failed(key: RolloutKey, failed: FailedAttempt, attempt: number): void {
    this.write({ type: 'attempt-failed', ...placeOf(key), attempt, data: { ...failed } });
  }

  ended(rollout: Rollout): void {
    const { key, taskId, seed } = rollout;
    const name = drawsName({ seed, taskId, sample: key.sample });
    const open = this.#open.get(name);
    this.#open.delete(name);
    // It is played on by the next session.
    if (rollout.outcome === 'aborted') return;
    this.write(rolloutEvent(rollout, open?.recorded.drawn ?? []));
    this.recorded.rollouts.delete(keyText(key));
  }

  drawn(request: RandomKey, asked: string): Generation | undefined {
    const { answers } = this.#open.get(drawsName(request))?.recorded ?? nothing;
    const found = answers.get(asked);
    if (found === undefined) return undefined;
    answers.delete(asked);
    this.taken.turns += 1;
    return found;
  }

  draw(request: RandomKey, asked: string, { tokens, logProbs, ...drawn }: Generation) {
    const open = this.#open.get(drawsName(request));
    if (open === undefined) return undefined;
    const [ids, numbers] = [Int32Array.from(tokens), Float32Array.from(logProbs)];
    const { agent = onlyAgent, turn, drawn: before } = request;
    const seq = this.write({
      type: 'generation',
      ...open.place,
      agent,
      turn,
      version: drawn.version,
      tokens: ids,
      columns: { logProbs: numbers },
      data: { asked, stop: drawn.stop, ...(before !== undefined && { drawn: before }) },
    });
    open.recorded.drawn.push({ seq, tokens: ids, logProbs: numbers });
    return this.writer.synced();
  }

  /** The generator of a policy draws from these weights from now on. What others of this version drew is not used. */
  published(version: number, sha256: string | null, policy: string): void {
    const data = { sha256, ...(policy !== onlyAgent && { policy }) };
    const before = this.recorded.published.get(publishedAs({ version, data }));
    this.write({ type: 'publication', version, data });
    if (before === undefined || before === null || sha256 === null || before === sha256) return;
    this.warn(
      `The weights of version ${version}${policy === onlyAgent ? '' : ` of ${policy}`} differ from those that the run had before it was interrupted (${sha256.slice(0, 12)}, before ${before.slice(0, 12)}): learning is not reproducible here. What they drew is sampled again.`,
    );
    this.recorded.rollouts.clear();
  }

  close(): Promise<void> {
    return this.writer.close();
  }
}

const nothing: Pick<RecordedAttempt, 'answers'> = { answers: new Map() };

const placeOf = ({ when, iteration, round, slot, sample }: RolloutKey) => ({
  when,
  iteration,
  round,
  slot,
  sample,
});

class OpenAttempt implements AttemptJournal {
  readonly isReplayed: boolean;

  constructor(
    private readonly journal: RunJournal,
    private readonly of: { key: RolloutKey; draws: Draws; attempt: number },
    readonly recorded: RecordedAttempt,
  ) {
    this.isReplayed = recorded.drawn.length > 0 || recorded.calls.size > 0;
  }

  get place() {
    return { ...placeOf(this.of.key), attempt: this.of.attempt };
  }

  recordedCall(place: CallPlace): RecordedCall | undefined {
    return this.recorded.calls.get(callName(place));
  }

  callBegun(place: CallPlace, { id, name }: { id: string; name: string }) {
    this.journal.write({ type: 'call-begun', ...this.place, ...place, data: { id, name } });
    return this.journal.synced();
  }

  callEnded(place: CallPlace, executed: ExecutedCall): void {
    this.journal.write({ type: 'call-ended', ...this.place, ...place, data: { ...executed } });
  }

  stepped(place: Omit<CallPlace, 'call'>, step: Readonly<Record<string, unknown>>): void {
    this.journal.write({ type: 'step', ...this.place, ...place, data: step });
  }

  judged(verdicts: Readonly<Record<string, Verdict>>): void {
    this.journal.write({ type: 'verdict', ...this.place, data: { verdicts } });
  }

  beginAnew(): void {
    this.recorded.answers.clear();
    this.recorded.calls.clear();
    this.journal.taken.begunAnew += 1;
  }
}
