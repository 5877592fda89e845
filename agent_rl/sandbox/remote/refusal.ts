import type { Problem } from './protocol.ts';

/** An answer with another status than 200. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    message: string,
    /** In the shape that callers of SandboxFusion know. */
    readonly problems: readonly Problem[] = [],
  ) {
    super(message);
  }
}
