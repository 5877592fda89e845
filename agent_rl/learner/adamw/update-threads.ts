import { UpdateHelper, type Placed } from './update-helper.ts';
import { updatePiece, type Moments, type Piece, type StepFactors } from './update-piece.ts';

/** Threads that take a step together, this one among them. Which of them updates a piece changes no bit. */
export class UpdateThreads {
  readonly #helpers: readonly UpdateHelper[];

  /** @param moments by parameter; in memory that threads share where `threads` is more than one */
  constructor(threads: number, moments: readonly Moments[]) {
    this.#helpers = Array.from({ length: threads - 1 }, () => new UpdateHelper(moments));
  }

  /** @throws AgentRlError `ENGINE_FAILED` when a thread has ended */
  requireRunning(): void {
    for (const helper of this.#helpers) helper.requireRunning();
  }

  /**
   * Blocks until all pieces are updated. A helper that has not started yet, or has no processor, is not waited for: the pieces it
   * has not begun are updated here.
   *
   * @returns of each piece the sum of the squares of its new weights
   * @throws AgentRlError `ENGINE_FAILED` when a thread does not end what it has begun
   */
  update(pieces: readonly Piece[], factors: StepFactors): Float64Array {
    const squares = new Float64Array(pieces.length);
    let index = 0;
    const next = (): Placed | undefined => {
      const piece = pieces[index];
      return piece === undefined ? undefined : { piece, index: index++ };
    };
    const update = ({ piece, index: at }: Placed): void => {
      squares[at] = updatePiece(piece, factors);
    };
    while (index < pieces.length) {
      for (const helper of this.#helpers) helper.exchange(next, factors, squares);
      const own = next();
      if (own !== undefined) update(own);
    }
    for (const helper of this.#helpers) helper.finish(squares).forEach(update);
    return squares;
  }

  async close(): Promise<void> {
    await Promise.all(this.#helpers.map((helper) => helper.close()));
  }
}
