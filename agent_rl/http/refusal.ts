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

/** The refusal of a body with a wrong field. */
export const wrongField = (
  field: string,
  why: string,
  text: string,
  code = 'invalid_value',
): Refusal => new Refusal(400, text, [{ path: [field], message: why }], code);

/** A part of an address as it was before it was encoded. @throws Refusal */
export function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    const shown = JSON.stringify(text.slice(0, 80));
    throw new Refusal(400, `${shown} in the address is not percent-encoded correctly.`);
  }
}
