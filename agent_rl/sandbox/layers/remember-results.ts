import { createHash } from 'node:crypto';

import type {
  RequestKind,
  RunResult,
  SandboxRequest,
  SandboxResults,
} from '../../core/services/sandbox.ts';
import { abortable } from '../../core/stopping/abort.ts';
import type { Execute, Layer } from './layer.ts';

/** How many requests were made and how many of them were repeats. */
export interface RememberedCounts {
  requests: number;
  repeats: number;
}

type Answer<Result> = Result | Promise<Result>;

/** The other statuses depend on the machine's load or are our own failure. */
const repeatable: ReadonlySet<RunResult['status']> = new Set(['ok', 'error', 'bad_request']);
/** Size limit of a kept answer as JSON; larger ones are not worth their memory. */
const mostChars = 4096;

/**
 * Answers an equal request from memory: the members of a group often write the same program. Requests are equal when
 * code, input or calls, files, limits and seed are. Requests in progress are shared, however they end. Programs of a
 * session depend on earlier ones, so their results are not kept.
 *
 * Statuses `ok`, `error` and `bad_request` are kept, up to a size; `timeout`, `memory_limit`, `crashed` and
 * `sandbox_error` are not. A program whose output depends on something else than its request, such as the clock, is
 * not recognised: its first answer is repeated, `wallMs` included.
 */
export class RememberedResults implements Layer {
  /** Results that were kept, and promises of those under way. A settled promise would keep the episode that first asked. */
  readonly #answers = new Map<string, Answer<RunResult>>();
  #requests = 0;
  #repeats = 0;

  constructor(
    /** Most answers kept; the oldest goes first. */
    private readonly limit = 8192,
  ) {}

  get counts(): RememberedCounts {
    return { requests: this.#requests, repeats: this.#repeats };
  }

  /** The run itself is not cancelled, since others may wait for it; it ends by its own limit. */
  execute =
    (next: Execute): Execute =>
    async <Kind extends RequestKind>(request: SandboxRequest<Kind>, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      const key = requestKey(request);
      this.#requests += 1;
      // Under a key are answers to requests of its kind alone.
      const known = this.#answers.get(key) as Answer<SandboxResults[Kind]> | undefined;
      if (known !== undefined) this.#repeats += 1;
      return abortable(Promise.resolve(known ?? this.#keep(key, next(request))), signal);
    };

  #keep<Result extends RunResult>(key: string, answer: Promise<Result>): Promise<Result> {
    this.#answers.set(key, answer);
    const settle = (result?: Result): void => {
      if (this.#answers.get(key) !== answer) return;
      if (result !== undefined && isKept(result)) this.#answers.set(key, result);
      else this.#answers.delete(key);
    };
    answer.then(settle, () => settle());
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > this.limit && oldest !== undefined) this.#answers.delete(oldest);
    return answer;
  }
}

/**
 * A text that only equal requests share; the owner does not count. Its length is fixed, since thousands are kept and a
 * request may hold megabytes of input. The request must have been checked, so that it holds nothing that JSON would
 * drop or change.
 */
export function requestKey<Kind extends RequestKind>(request: SandboxRequest<Kind>): string {
  // Only the outermost owner is left out: an owner further inside belongs to the program.
  const { kind, ...rest } = request;
  const fields = Object.entries(rest).filter(([name]) => name !== 'owner');
  return createHash('sha256')
    .update(JSON.stringify([kind, fields]))
    .digest('base64');
}

const isKept = (result: RunResult): boolean =>
  repeatable.has(result.status) && JSON.stringify(result).length <= mostChars;
