/** What `work` came to, or `'timeout'` when the deadline passed first. */
export type Timed<Value> = { value: Value } | 'timeout';

/**
 * Runs `work` until its deadline; then its signal is aborted and nobody waits for it any more. Work that loops
 * synchronously cannot be ended this way.
 *
 * @throws what `work` throws, and the reason of `signal` when that is aborted first.
 */
export async function withDeadline<Value>(
  work: (signal: AbortSignal) => Promise<Value>,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<Timed<Value>> {
  const deadline = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => {
      resolve('timeout');
      deadline.abort(new Error(`The deadline of ${seconds} s passed.`));
    }, seconds * 1000);
  });
  try {
    const either = AbortSignal.any([signal, deadline.signal]);
    const value = work(either).then((result) => ({ value: result }));
    return await unlessAborted(Promise.race([value, passed]), signal);
  } finally {
    clearTimeout(timer);
  }
}

/** `work`, or the signal's reason as an error once it is aborted, whichever is first. */
export async function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  // Lets go of the listener once the work is done.
  const over = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(reasonOf(signal));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    over.abort();
  }
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error(String(reason));
