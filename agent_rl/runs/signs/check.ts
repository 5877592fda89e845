import type { ExampleOf } from './episode-counts.ts';
import type { RunEvidence } from './run-evidence.ts';

/**
 * One reason why a run may not learn. To add one: write it in a file of its kind here, with a word on where each threshold
 * comes from, and put it into the list of `run-checks.ts`, causes before what follows from them. `runs explain` looks at a whole
 * run, and a run looks at itself while it trains (`run-watch.ts`).
 */
export interface Check {
  /** What the finding is called, also in `--json`. */
  name: string;
  /** What is asked, as the list shows it. */
  asks: string;
  /** It shows what came of a cause: a cause that is found stands before it, however grave it is. */
  effect?: true;
  /** Pure: the same evidence has the same answer. Names settings with their present values, by `settings.now`. */
  look: (evidence: RunEvidence) => Answer;
}

/** `suspicious` may be as it should be; `wrong` keeps the run from learning. `unknown`: it was not measured. */
export type Verdict = 'ok' | 'suspicious' | 'wrong' | 'unknown';

export interface Answer {
  verdict: Verdict;
  /** What is the case, in a sentence. */
  says: string;
  /** Figures, with the metrics they are from. */
  evidence?: readonly string[];
  /** What to do about it. */
  tries?: readonly string[];
  /** An episode in which it is seen. */
  example?: ExampleOf;
}

export const ok = (says: string): Answer => ({ verdict: 'ok', says });
export const unknown = (says: string): Answer => ({ verdict: 'unknown', says });

/** `wrong` from one share on, `suspicious` from a lower one on. */
export function verdictOf(
  share: number,
  { wrong, suspicious }: { wrong: number; suspicious: number },
): Verdict {
  if (share >= wrong) return 'wrong';
  return share >= suspicious ? 'suspicious' : 'ok';
}

/** What a share comes to: `says`, and where it is no longer ok, more. */
export function judged(
  share: number,
  bounds: Parameters<typeof verdictOf>[1],
  says: string,
  more: Partial<Answer>,
): Answer {
  const verdict = verdictOf(share, bounds);
  return verdict === 'ok' ? ok(says) : { verdict, says, ...more };
}
