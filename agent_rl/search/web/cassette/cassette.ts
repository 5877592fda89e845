import { AgentRlError } from '../../../core/errors.ts';
import { canonicalJson } from '../../../core/services/canonical-json.ts';
import {
  appendToCassette,
  type CanonicalRequest,
  readCassette,
  requestKey,
} from './cassette-file.ts';
import { parseHiding } from '../../../telemetry/redact.ts';
import { WebFailure } from '../web-failure.ts';

export interface CassetteOptions {
  /** record answers from the file what is there and fresh, and writes down the rest; replay knows only the file. */
  mode: 'record' | 'replay';
  path: string;
  /** Name of the tool: tools may share a file. */
  scope: string;
  /** Hours for which record answers from the file; without end by default. Replay serves what is there. */
  ttlHours?: number | undefined;
  /** Takes secrets out of what is written. */
  hide: (text: string) => string;
  /** Whether a value in the file is one that `live` may give. */
  isAnswer: (value: unknown) => boolean;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** A request as one call makes it. */
export interface RecordableCall {
  request: CanonicalRequest;
  /** Names the call within its run: its failures are replayed to it alone. */
  call: string;
}

/**
 * Records what the web answered and gives the same answers again.
 *
 * - An answer is kept by the request alone, and the first of a run is the answer of the run: who asks the same later
 *   or at the same time gets it, and the network is asked once.
 * - A failure is kept by request and call, so that in a replay the same calls fail in the same way and the others do
 *   not. It holds until the same call is recorded anew: a run may be recorded in several sessions.
 */
export class Cassette {
  readonly #answers = new Map<string, unknown>();
  readonly #failures = new Map<string, WebFailure>();
  /** In record mode: places where an earlier session failed and this one may not. */
  readonly #failedBefore = new Set<string>();
  readonly #asked = new Map<string, number>();
  readonly #inFlight = new Map<string, Promise<unknown>>();
  #calls = 0;
  #hits = 0;

  /** @throws AgentRlError `CASSETTE_INVALID`; `CASSETTE_MISS` when there is no file to replay. */
  constructor(private readonly options: CassetteOptions) {
    const { mode, path, scope, isAnswer } = options;
    const now = options.now ?? Date.now;
    const oldest = now() - (options.ttlHours ?? Infinity) * 3_600_000;
    for (const line of readCassette(path, { writable: mode === 'record', scope, isAnswer })) {
      if (line.scope !== scope) continue;
      if ('cassette' in line) continue;
      if ('recovered' in line) this.#failures.delete(failureKey(line));
      else if ('failure' in line) {
        const { kind, message } = line.failure;
        this.#failures.set(failureKey(line), new WebFailure(kind, message));
      } else if (mode === 'replay' || Date.parse(line.at) >= oldest) {
        this.#answers.set(line.key, line.answer);
      }
    }
    if (mode === 'record') {
      for (const place of this.#failures.keys()) this.#failedBefore.add(place);
      // A call that is made again meets its own.
      this.#failures.clear();
      appendToCassette(path, { scope, cassette: 1, at: new Date(now()).toISOString() });
    } else if (this.#answers.size + this.#failures.size === 0) {
      throw new AgentRlError(
        'CASSETTE_MISS',
        `mode: replay, but ${path} contains no answers for "${scope}". Record them first with mode: record.`,
      );
    }
  }

  /** Requests, and how many of them were answered without the network. */
  get counts(): { calls: number; hits: number } {
    return { calls: this.#calls, hits: this.#hits };
  }

  /**
   * The recorded answer to a request or, in record mode, that of `live`.
   *
   * @param live asks the network. Shared by all who ask the same meanwhile, so no one call may end it.
   * @throws WebFailure as recorded, or as `live` does; AgentRlError `CASSETTE_MISS` in replay mode.
   */
  async answer(call: RecordableCall, live: () => Promise<unknown>): Promise<unknown> {
    const key = requestKey(call.request);
    const place = { key, call: call.call, repeat: this.#countRepeat(key, call.call) };
    this.#calls += 1;
    const failure = this.#failures.get(failureKey(place));
    if (failure !== undefined) {
      this.#hits += 1;
      throw failure;
    }
    if (this.#answers.has(key)) {
      this.#hits += 1;
      this.#recordRecovery(place);
      return this.#answers.get(key);
    }
    if (this.options.mode === 'replay') throw missing(call.request, this.options.path);
    try {
      const answer = await this.#ask(key, call.request, live);
      this.#recordRecovery(place);
      return answer;
    } catch (error) {
      if (error instanceof WebFailure) this.#recordFailure(place, error);
      throw error;
    }
  }

  #countRepeat(key: string, call: string): number {
    const name = `${key} ${call}`;
    const repeat = this.#asked.get(name) ?? 0;
    this.#asked.set(name, repeat + 1);
    return repeat;
  }

  async #ask(key: string, request: CanonicalRequest, live: () => Promise<unknown>) {
    const running = this.#inFlight.get(key);
    if (running !== undefined) {
      const answer = await running;
      this.#hits += 1;
      return answer;
    }
    const asking = this.#askAndRecord(key, request, live).finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, asking);
    return asking;
  }

  async #askAndRecord(key: string, request: CanonicalRequest, live: () => Promise<unknown>) {
    const { path, scope, hide, now = Date.now } = this.options;
    // What a replay will give is given now, too: without secrets, and as JSON keeps it.
    const answer: unknown = parseHiding(JSON.stringify(await live()), hide);
    const asked = parseHiding(canonicalJson(request), hide) as CanonicalRequest;
    const at = new Date(now()).toISOString();
    appendToCassette(path, { scope, key, request: asked, at, answer });
    this.#answers.set(key, answer);
    return answer;
  }

  #recordRecovery(at: FailurePlace): void {
    if (!this.#failedBefore.delete(failureKey(at))) return;
    appendToCassette(this.options.path, { scope: this.options.scope, ...at, recovered: true });
  }

  #recordFailure(at: FailurePlace, { kind, message }: WebFailure): void {
    const { path, scope, hide } = this.options;
    appendToCassette(path, { scope, ...at, failure: { kind, message: hide(message) } });
  }
}

interface FailurePlace {
  key: string;
  call: string;
  repeat: number;
}

const failureKey = ({ key, call, repeat }: FailurePlace): string => `${key} ${repeat} ${call}`;

function missing(request: CanonicalRequest, path: string): AgentRlError {
  const asked = canonicalJson(request);
  const shown = asked.length > 300 ? `${asked.slice(0, 297)}...` : asked;
  return new AgentRlError(
    'CASSETTE_MISS',
    `mode: replay, but ${path} contains no answer to ${shown}. Record the answer with mode: record, or replay with the settings, seed and weights of the recording.`,
  );
}
