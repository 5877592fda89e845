/** One thing that is wrong with the body of a request. */
export interface BodyProblem {
  path: readonly (string | number)[];
  message: string;
}

/** An answer with another status than 200. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    message: string,
    readonly problems: readonly BodyProblem[] = [],
    /** Word that callers can tell it by, where their protocol has one. */
    readonly code?: string,
  ) {
    super(message);
  }
}
