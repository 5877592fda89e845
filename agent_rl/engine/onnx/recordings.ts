import { AgentRlError } from '../../core/errors.ts';
import type { Sizes } from '../engine.ts';
import type { TracedProgram } from '../trace/trace-program.ts';
import { type Growth, growths, together, valueAt } from './size-growth.ts';

/** How much larger each size is where it alone is another. */
const alone = 62;

/** A program recorded at a few sizes. @throws AgentRlError `NOT_TRACEABLE` where it does not do the same at all of them */
export class Recordings {
  readonly base: TracedProgram;
  /** At each size larger by itself, then twice at all of them larger. */
  readonly others: readonly TracedProgram[];
  readonly #last: readonly Sizes[];

  constructor(
    trace: (sizes: Sizes) => TracedProgram,
    private readonly names: readonly string[],
    private readonly first: Sizes,
  ) {
    const at = (name: string, more: number) => [name, first[name]! + more] as const;
    const single = names.map((name) =>
      Object.fromEntries(names.map((own) => at(own, own === name ? alone : 0))),
    );
    this.#last = together.map((more) =>
      Object.fromEntries(names.map((name, i) => at(name, more[i]!))),
    );
    this.base = trace(first);
    this.others = [...single, ...this.#last].map(trace);
    const form = formOf(this.base);
    if (this.others.every((other) => formOf(other) === form)) return;
    throw notEven('Which operations are recorded');
  }

  /** How a number of the recordings grows. */
  growthOf(of: (traced: TracedProgram) => number): Growth {
    const { names, first } = this;
    const number = of(this.base);
    const others = this.others.map(of);
    const last = others.slice(names.length);
    const slopes = others.slice(0, names.length).map((other) => (other - number) / alone);
    const holds = (growth: Growth): boolean =>
      this.#last.every((sizes, i) => valueAt(growth, sizes) === last[i]);
    const growth = growths({ names, first, number, slopes, last: last[0]! }).find(holds);
    if (growth !== undefined) return growth;
    throw this.notEven(`A number of a shape, ${number}`);
  }

  notEven(what: string): AgentRlError {
    return notEven(`${what} at ${JSON.stringify(this.first)}`);
  }
}

/** What must be the same at all sizes. */
const formOf = ({ graph, outputNames }: TracedProgram): string =>
  JSON.stringify([
    graph.nodes,
    graph.initializers.map(({ name, dtype }) => [name, dtype]),
    outputNames,
  ]);

export const notEven = (what: string): AgentRlError =>
  new AgentRlError(
    'NOT_TRACEABLE',
    `${what}, depends on the sizes of the program otherwise than evenly; pass what depends on them in as an input.`,
  );
