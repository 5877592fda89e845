import type { LanguageModel } from '../../../model/text/language-model.ts';
import { Refusal } from '../../http/refusal.ts';
import { ThreadPool } from '../../threads/thread-pool.ts';
import { moduleBeside } from '../../threads/thread.ts';

/** This many characters take some 10 ms to encode. */
const mostHere = 4096;
/** What is shorter costs more to hand over than to encode. */
const shortChars = 64;
/** More wait: beside them, others are sampled. */
const mostThreads = 1;

/** Encodes long texts in a thread, so that other requests go on while one takes seconds. */
export class LongTexts {
  readonly #threads: ThreadPool<string, readonly number[]>;
  /** Of the work under way: what was encoded ahead of it, and what it needed and did not find. */
  #ahead:
    | {
        known: Map<string, readonly number[]>;
        missing: Set<string>;
        left: number;
      }
    | undefined;

  /** @param textFolder where the thread finds the tokenizer */
  constructor(
    model: LanguageModel,
    textFolder: string,
    private readonly seconds: number,
  ) {
    this.#threads = new ThreadPool({
      name: 'The thread that encodes long prompts',
      entry: moduleBeside(import.meta.url, 'encoding-worker'),
      data: textFolder,
      startUpS: 120,
      mostAtOnce: mostThreads,
    });
    model.ahead = (text) => this.#find(text);
  }

  /** What `make` makes of texts, for which it is called again once those that are long have been encoded. */
  async whole<Made>(make: () => Made, signal: AbortSignal): Promise<Made> {
    const known = new Map<string, readonly number[]>();
    for (;;) {
      const missing = new Set<string>();
      const ahead = { known, missing, left: mostHere };
      this.#ahead = ahead;
      let made: Made;
      try {
        made = make();
      } finally {
        this.#ahead = undefined;
      }
      if (missing.size === 0) return made;
      await Promise.all(
        [...missing].map(async (text) => {
          const timed = await this.#threads.ask(text, { seconds: this.seconds, signal });
          if (timed === 'timeout')
            throw new Refusal(408, `The prompt took longer than ${this.seconds} s to encode.`);
          known.set(text, timed.value);
        }),
      );
    }
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  #find(text: string): readonly number[] | undefined {
    const ahead = this.#ahead;
    if (ahead === undefined) return undefined;
    const { known, missing } = ahead;
    const found = known.get(text);
    if (found !== undefined) return found;
    if (text.length <= shortChars || text.length <= ahead.left) {
      ahead.left -= text.length;
      return undefined;
    }
    missing.add(text);
    return [];
  }
}
