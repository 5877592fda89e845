import type { ChannelEnd } from './channel-end.ts';
import { box } from '../protocol.ts';

interface Side {
  end: ChannelEnd;
  /** No program runs at this end any more. */
  ended: boolean;
}

/** Carries bytes between a program and its tests, and keeps what the tests say of it. */
export class Pipe {
  readonly #program: Side;
  readonly #tests: Side;
  readonly #verdicts: Uint8Array[] = [];
  #verdictBytes = 0;
  /** The program's time is over: nothing of it is carried any more. */
  #isCut = false;

  constructor(
    program: ChannelEnd,
    tests: ChannelEnd,
    /** Tests that say more are left waiting until their time is over. */
    private readonly mostVerdictBytes: number,
    private readonly isLate: () => boolean,
  ) {
    this.#program = { end: program, ended: false };
    this.#tests = { end: tests, ended: false };
    for (const end of [program, tests]) end.open();
    for (const end of [program, tests]) end.listen(() => this.#move());
  }

  /** One line each; the last may be cut off. */
  get verdicts(): string {
    return Buffer.concat(this.#verdicts).toString('utf8');
  }

  /** To be called when the program has ended. If that was in time the tests still get what it wrote, then the end. */
  programEnded(inTime: boolean): void {
    if (!inTime) this.cut();
    this.#program.ended = true;
    this.#move();
  }

  /** The same of the tests. */
  testsEnded(): void {
    this.#tests.ended = true;
    this.#move();
  }

  /** Both sides read the end from now on. */
  cut(): void {
    this.#isCut = true;
    for (const { end } of [this.#program, this.#tests]) end.close();
  }

  release(): void {
    for (const { end } of [this.#program, this.#tests]) end.release();
  }

  #move(): void {
    if (!this.#isCut && !this.#program.ended && this.isLate()) this.cut();
    if (!this.#isCut) carry(this.#program, this.#tests);
    carry(this.#tests, this.#program);
    while (this.#verdictBytes <= this.mostVerdictBytes) {
      const report = this.#tests.end.take(box.verdicts);
      if (report === undefined) break;
      this.#verdicts.push(report);
      this.#verdictBytes += report.length;
    }
  }
}

function carry(from: Side, to: Side): void {
  // What an ended side left unread will never be taken, so it must not keep the other side from ending.
  while (to.ended || to.end.canTake()) {
    const bytes = from.end.take(box.outgoing);
    if (bytes === undefined) {
      if (from.ended) to.end.close();
      return;
    }
    if (!to.ended) to.end.give(bytes);
  }
}
