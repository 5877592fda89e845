import { useContext, useEffect, useState } from 'preact/hooks';

import { AnswersContext, type Answers, RequestFailed } from './answers.ts';

/** What was asked for, as far as it is known. */
export interface Asked<Answer> {
  /** The last one; of the path before while a new one is on its way. */
  answer: Answer | undefined;
  /** The path that it answers. */
  of: string | undefined;
  problem: string | undefined;
  waiting: boolean;
}

/** Where data comes from. @throws Error outside of the page */
export function useAnswers(): Answers {
  const answers = useContext(AnswersContext);
  if (answers === undefined) throw new Error('Nothing answers here.');
  return answers;
}

/**
 * Asks for a path, and again when `version` changes.
 *
 * @param path null asks for nothing
 */
export function useAnswer<Answer>(path: string | null, version: unknown = 0): Asked<Answer> {
  const answers = useAnswers();
  const [asked, setAsked] = useState<Asked<Answer>>(nothing);
  useEffect(() => {
    if (path === null) {
      setAsked(nothing());
      return undefined;
    }
    const stop = new AbortController();
    setAsked((before) => ({ ...before, waiting: true }));
    const ask = async (): Promise<void> => {
      try {
        const answer = await answers.get<Answer>(path, stop.signal);
        if (!stop.signal.aborted)
          setAsked({ answer, of: path, problem: undefined, waiting: false });
      } catch (cause) {
        if (stop.signal.aborted) return;
        setAsked((before) => ({
          answer: before.of === path ? before.answer : undefined,
          of: path,
          problem: wordsOf(cause),
          waiting: false,
        }));
      }
    };
    void ask();
    return () => stop.abort();
  }, [path, version, answers]);
  return asked;
}

/** The same, but never the answer to another path. */
export function useOwnAnswer<Answer>(path: string | null, version: unknown = 0): Asked<Answer> {
  const asked = useAnswer<Answer>(path, version);
  return asked.of === path ? asked : { ...nothing<Answer>(), waiting: path !== null };
}

const nothing = <Answer>(): Asked<Answer> => ({
  answer: undefined,
  of: undefined,
  problem: undefined,
  waiting: false,
});

/** What to tell the reader about a failure. */
export const wordsOf = (cause: unknown): string =>
  cause instanceof RequestFailed || cause instanceof Error ? cause.message : String(cause);
