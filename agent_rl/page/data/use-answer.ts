import { useContext, useEffect, useState } from 'preact/hooks';

import { AnswersContext, type Answers, RequestFailed } from './answers.ts';

/** The state of a request. */
export interface Asked<Answer> {
  /** The latest answer; while a request is pending, the answer to the previous path. */
  answer: Answer | undefined;
  /** The path of the answer. */
  of: string | undefined;
  problem: string | undefined;
  waiting: boolean;
}

/** The page's source of data. @throws Error outside of the page */
export function useAnswers(): Answers {
  const answers = useContext(AnswersContext);
  if (answers === undefined) throw new Error('There is no AnswersContext above this component.');
  return answers;
}

/**
 * Requests a path, again whenever `version` changes.
 *
 * @param path null requests nothing
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

/** The same, but never with the answer to another path. */
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

/** The message of a failure. */
export const wordsOf = (cause: unknown): string =>
  cause instanceof RequestFailed || cause instanceof Error ? cause.message : String(cause);
