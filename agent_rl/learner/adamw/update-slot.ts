import {
  pieceLength,
  updatePiece,
  type Moments,
  type Piece,
  type StepFactors,
} from './update-piece.ts';

/** Whose turn it is. */
const [free, given, taken, done] = [0, 1, 2, 3];
/** Places of the whole numbers. */
const [state, parameter, from, length] = [0, 1, 2, 3];
/** The numbers that are given; the sum of squares that comes back is behind them. */
const numbers = ['kept', 'scale', 'beta1', 'beta2', 'rate', 'rootCorrection', 'eps'] as const;
const squares = numbers.length;

type Numbers = StepFactors & Pick<Piece, 'kept'>;

const wholeBytes = 4 * Int32Array.BYTES_PER_ELEMENT;
const numberBytes = (numbers.length + 1) * Float64Array.BYTES_PER_ELEMENT;
const valueBytes = pieceLength * Float32Array.BYTES_PER_ELEMENT;

/**
 * Room for the weights and the gradient of one piece in memory that two threads share: one gives pieces, the other updates
 * them. Neither spins while it waits.
 */
export class UpdateSlot {
  readonly #whole: Int32Array;
  readonly #numbers: Float64Array;
  readonly #weights: Float32Array;
  readonly #gradient: Float32Array;

  constructor(readonly memory = new SharedArrayBuffer(wholeBytes + numberBytes + 2 * valueBytes)) {
    this.#whole = new Int32Array(memory, 0, 4);
    this.#numbers = new Float64Array(memory, wholeBytes, numbers.length + 1);
    this.#weights = new Float32Array(memory, wholeBytes + numberBytes, pieceLength);
    this.#gradient = new Float32Array(memory, wholeBytes + numberBytes + valueBytes, pieceLength);
  }

  get isDone(): boolean {
    return Atomics.load(this.#whole, state) === done;
  }

  give(piece: Piece, factors: StepFactors): void {
    this.#weights.set(piece.weights);
    this.#gradient.set(piece.gradient);
    const values: Numbers = { ...factors, kept: piece.kept };
    for (const [at, name] of numbers.entries()) this.#numbers[at] = values[name];
    this.#whole[parameter] = piece.parameter;
    this.#whole[from] = piece.from;
    this.#whole[length] = piece.weights.length;
    Atomics.store(this.#whole, state, given);
  }

  /** Whether the piece is the giver's again, because nobody had begun with it. */
  takeBack(): boolean {
    return Atomics.compareExchange(this.#whole, state, given, free) === given;
  }

  /** Waits until a piece that was taken is done. @returns whether it is */
  wait(seconds: number): boolean {
    // Second by second, so that a process that was stopped for a while does not find its time used up.
    for (let waited = 0; waited < seconds && !this.isDone; waited++)
      Atomics.wait(this.#whole, state, taken, 1000);
    return this.isDone;
  }

  /** Copies the new weights of a piece that is done, and frees the slot. @returns the sum of their squares */
  collect({ weights }: Piece): number {
    weights.set(this.#weights.subarray(0, weights.length));
    const sum = this.#numbers[squares] as number;
    Atomics.store(this.#whole, state, free);
    return sum;
  }

  /** In the other thread: updates the piece that was given. @returns whether there was one */
  work(moments: readonly Moments[]): boolean {
    if (Atomics.compareExchange(this.#whole, state, given, taken) !== given) return false;
    const [begin, count] = [this.#whole[from] as number, this.#whole[length] as number];
    const { m, v } = moments[this.#whole[parameter] as number] as Moments;
    const values = Object.fromEntries(numbers.map((name, at) => [name, this.#numbers[at]]));
    const { kept, ...factors } = values as unknown as Numbers;
    const piece = {
      kept,
      weights: this.#weights.subarray(0, count),
      gradient: this.#gradient.subarray(0, count),
      m: m.subarray(begin, begin + count),
      v: v.subarray(begin, begin + count),
    };
    this.#numbers[squares] = updatePiece(piece, factors);
    Atomics.store(this.#whole, state, done);
    Atomics.notify(this.#whole, state);
    return true;
  }
}
