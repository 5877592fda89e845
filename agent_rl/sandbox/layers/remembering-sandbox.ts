import type { RunResult, Sandbox } from '../../core/services/sandbox.ts';
import { requestKey } from '../request-key.ts';

/** How many requests were made and how many of them had been answered before. */
export interface RememberedCounts {
  requests: number;
  repeats: number;
}

/** The other statuses depend on the machine's load or are our own failure. */
const repeatable: ReadonlySet<RunResult['status']> = new Set(['ok', 'error', 'bad_request']);
/** Of an answer as JSON; larger ones are not worth their memory. */
const mostChars = 4096;

/**
 * A sandbox that answers an equal request from memory: the members of a group often write the same program. Requests
 * are equal when code, input or calls, files, limits and seed are. Those under way are shared, whatever becomes of them.
 * It must be given requests that were checked (`CheckedSandbox`): others may look alike as JSON.
 *
 * Statuses `ok`, `error` and `bad_request` are kept, up to a size; `timeout`, `memory_limit`, `crashed` and
 * `sandbox_error` are not. A program whose output depends on something else than its request, such as the clock, is
 * not recognised: its first answer is repeated, `wallMs` included.
 */
export class RememberingSandbox implements Sandbox {
  readonly #answers = new Map<string, Promise<RunResult>>();
  #requests = 0;
  #repeats = 0;

  constructor(
    private readonly inner: Sandbox,
    /** Most answers kept; the oldest goes first. */
    private readonly limit = 8192,
  ) {}

  get counts(): RememberedCounts {
    return { requests: this.#requests, repeats: this.#repeats };
  }

  run: Sandbox['run'] = (request, signal) =>
    this.#answer(requestKey('run', request), () => this.inner.run(request), signal);

  calls: Sandbox['calls'] = (request, signal) =>
    this.#answer(requestKey('calls', request), () => this.inner.calls(request), signal);

  judge: Sandbox['judge'] = (request, signal) =>
    this.#answer(requestKey('judge', request), () => this.inner.judge(request), signal);

  /** What a session's program does depends on those before it, so nothing of it is kept. */
  openSession: Sandbox['openSession'] = (request) => this.inner.openSession(request);

  capabilities: Sandbox['capabilities'] = () => this.inner.capabilities();

  close: Sandbox['close'] = () => this.inner.close();

  /** The run itself is not cancelled, since others may wait for it; it ends by its own limit. */
  async #answer<Result extends RunResult>(
    key: string,
    run: () => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    signal?.throwIfAborted();
    this.#requests += 1;
    const known = this.#answers.get(key) as Promise<Result> | undefined;
    if (known !== undefined) this.#repeats += 1;
    const answer = known ?? this.#start(key, run);
    return signal === undefined ? answer : unlessAborted(answer, signal);
  }

  #start<Result extends RunResult>(key: string, run: () => Promise<Result>): Promise<Result> {
    const answer = run();
    this.#answers.set(key, answer);
    const forget = (): boolean => this.#answers.delete(key);
    answer.then((result) => isKept(result) || forget(), forget);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > this.limit && oldest !== undefined) this.#answers.delete(oldest);
    return answer;
  }
}

const isKept = (result: RunResult): boolean =>
  repeatable.has(result.status) && JSON.stringify(result).length <= mostChars;

async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let stop!: () => void;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
