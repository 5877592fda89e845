import type { ExecutedCall, Turn } from '../core/plugins/environment.ts';
import type { Message, ToolMessage, UserMessage } from '../core/message.ts';
import { append } from '../core/long-lists.ts';
import { type RequestFacts, sampledTurns } from '../core/rollout.ts';
import type { Transcript, TranscriptRecord } from '../core/transcript.ts';
import { redactor } from '../telemetry/redact.ts';
import { Stopwatch } from '../telemetry/stopwatch.ts';
import type { TurnCounts } from './check-verdict.ts';

/** What one agent of an episode has done and seen so far. */
export class EpisodeLog {
  /** Absent before its first turn. */
  transcript: Transcript | undefined;
  readonly messages: Message[] = [];
  /** Messages to it since its last turn. */
  unread: (ToolMessage | UserMessage)[] = [];
  readonly turns: Turn[] = [];
  readonly calls: ExecutedCall[] = [];
  malformedCalls = 0;
  cutTokens = 0;
  /** Of an external agent: its result, its sequences and statistics of its requests. */
  returned: unknown;
  /** Or its error, if the model's output caused it. */
  thrown: string | undefined;
  sequences: readonly TranscriptRecord[] | undefined;
  undelivered = 0;
  requests: RequestFacts | undefined;
  readonly #retries: string[] = [];
  readonly #hidden = new Map<string, Readonly<Record<string, unknown>>>();
  readonly watch: Stopwatch<'generation' | 'tools' | 'grading'>;

  /** @param name of the episode, for a profile */
  constructor(name: string) {
    const shown = { track: 'episodes', group: name };
    this.watch = new Stopwatch(['generation', 'tools', 'grading'], { shown });
  }

  get invalidCalls(): number {
    return this.malformedCalls + this.calls.filter(({ status }) => status === 'rejected').length;
  }

  /** Its turns, as verdicts and rewards may count them. */
  get turnCounts(): TurnCounts {
    const sequences = this.transcript === undefined ? [] : [this.transcript.record()];
    const sampled = this.requests === undefined ? sampledTurns({ sequences }).length : undefined;
    return { stepped: this.turns.length, sampled };
  }

  /** See `EpisodeView.answer`. */
  get answer(): unknown {
    if (this.requests !== undefined) return this.returned;
    return this.returned ?? this.messages.findLast(({ role }) => role === 'assistant')?.content;
  }

  /** Notes that a call to the generator or a tool failed and was retried. */
  retried(problem: string): void {
    this.#retries.push(redactor()(problem));
  }

  /** Notes messages to it before its next turn. */
  show(messages: readonly (ToolMessage | UserMessage)[]): void {
    append(this.messages, messages);
    append(this.unread, messages);
  }

  /** Keeps the hidden inputs of a call. */
  hide(callId: string, inputs: Readonly<Record<string, unknown>>): void {
    if (Object.keys(inputs).length > 0) this.#hidden.set(callId, inputs);
  }

  /** An agent's part before it is judged. */
  record() {
    const { messages, calls, malformedCalls, cutTokens, undelivered, requests } = this;
    return {
      sequences:
        this.sequences ?? (this.transcript === undefined ? [] : [this.transcript.record()]),
      messages,
      calls,
      turns: this.turns.length,
      malformedCalls,
      seconds: this.watch.seconds,
      cutTokens,
      undelivered,
      requests,
      hiddenInputs: Object.fromEntries(this.#hidden),
      retries: this.#retries,
    };
  }
}
