import type { Worker } from 'node:worker_threads';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { moduleBeside, startThread } from '../../threads/thread.ts';
import type { Moments, Piece, StepFactors } from './update-piece.ts';
import { UpdateSlot } from './update-slot.ts';

/** What the thread is started with. */
export interface HelperStart {
  /** By parameter, in memory that threads share. */
  moments: readonly Moments[];
  slots: readonly SharedArrayBuffer[];
  /** Int32: changes whenever a slot was filled. */
  bell: SharedArrayBuffer;
}

/** A piece, and its place among all pieces of the step. */
export interface Placed {
  piece: Piece;
  index: number;
}

/** One is filled while the other is worked on. */
const slotCount = 2;

/** A piece is 0.2 ms of work: a thread that takes so long has ended, or the machine is not fit to train on. */
const patienceS = 60;

/** A thread that updates pieces, seen from the one that takes the steps. It sleeps while there are none. */
export class UpdateHelper {
  readonly #slots = Array.from({ length: slotCount }, () => ({
    slot: new UpdateSlot(),
    given: undefined as Placed | undefined,
  }));
  readonly #bell = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker: Worker;
  #ended: AgentRlError | undefined;

  constructor(moments: readonly Moments[]) {
    const data: HelperStart = {
      moments,
      slots: this.#slots.map(({ slot }) => slot.memory),
      bell: this.#bell.buffer,
    };
    this.#worker = startThread({ entry: moduleBeside(import.meta.url, 'update-thread'), data });
    this.#worker
      .on('error', (cause) => this.#end(messageOf(cause), cause))
      .on('exit', (code) => this.#end(`its exit code was ${code}`));
    this.#worker.unref();
  }

  /** @throws AgentRlError `ENGINE_FAILED` when the thread has ended */
  requireRunning(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** Takes what is done, and gives more where there is room. */
  exchange(next: () => Placed | undefined, factors: StepFactors, squares: Float64Array): void {
    for (const place of this.#slots) {
      if (place.slot.isDone) collect(place, squares);
      if (place.given !== undefined) continue;
      const more = next();
      if (more === undefined) return;
      place.slot.give(more.piece, factors);
      place.given = more;
      Atomics.add(this.#bell, 0, 1);
      Atomics.notify(this.#bell, 0);
    }
  }

  /**
   * Waits for what is being worked on.
   *
   * @returns the pieces that nobody has begun
   * @throws AgentRlError `ENGINE_FAILED` when it takes more than a minute
   */
  finish(squares: Float64Array): Placed[] {
    const back: Placed[] = [];
    for (const place of this.#slots) {
      const { slot, given } = place;
      if (given === undefined) continue;
      if (slot.takeBack()) {
        place.given = undefined;
        back.push(given);
      } else if (slot.wait(patienceS)) {
        collect(place, squares);
      } else {
        this.#end(`it did not finish its part in ${patienceS} s`);
        this.requireRunning();
      }
    }
    return back;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(reason: string, cause?: Error): void {
    this.#ended ??= new AgentRlError(
      'ENGINE_FAILED',
      `A thread of the optimiser's step ended (${reason}). Resume from the newest checkpoint; if memory ran out, lower run.engineThreads.`,
      { cause },
    );
  }
}

function collect(place: { slot: UpdateSlot; given: Placed | undefined }, squares: Float64Array) {
  const { piece, index } = place.given as Placed;
  squares[index] = place.slot.collect(piece);
  place.given = undefined;
}
