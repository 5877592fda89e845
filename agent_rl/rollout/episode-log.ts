import type { ExecutedCall, Turn } from '../core/plugins/environment.ts';
import type { Message, ToolMessage, UserMessage } from '../core/message.ts';
import { append } from '../core/long-lists.ts';
import type { RequestFacts } from '../core/rollout.ts';
import type { Transcript, TranscriptRecord } from '../core/transcript.ts';
import { redactor } from '../telemetry/redact.ts';
import { Stopwatch } from '../telemetry/stopwatch.ts';

/** What has happened so far to one agent of an episode. */
export class EpisodeLog {
  /** Absent before its first turn. */
  transcript: Transcript | undefined;
  readonly messages: Message[] = [];
  /** What it was shown since its last turn. */
  unread: (ToolMessage | UserMessage)[] = [];
  readonly turns: Turn[] = [];
  readonly calls: ExecutedCall[] = [];
  malformedCalls = 0;
  cutTokens = 0;
  /** Of an agent with a loop of its own: what it returned, its sequences, and what is known of its requests. */
  returned: unknown;
  /** Or what it threw because of what the model wrote. */
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

  /** See `EpisodeView.answer`. */
  get answer(): unknown {
    if (this.requests !== undefined) return this.returned;
    return this.returned ?? this.messages.findLast(({ role }) => role === 'assistant')?.content;
  }

  /** Notes that a call to the generator or a tool failed and was made again. */
  retried(problem: string): void {
    this.#retries.push(redactor()(problem));
  }

  /** Notes what it is shown before its next turn. */
  show(messages: readonly (ToolMessage | UserMessage)[]): void {
    append(this.messages, messages);
    append(this.unread, messages);
  }

  /** Keeps what a call was handed that the policy cannot see. */
  hide(callId: string, inputs: Readonly<Record<string, unknown>>): void {
    if (Object.keys(inputs).length > 0) this.#hidden.set(callId, inputs);
  }

  /** What is known of an agent's part before it is judged. */
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
