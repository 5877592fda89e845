import { AgentRlError } from '../../core/errors.ts';
import type { Sizes } from '../engine.ts';
import type { Graph } from '../trace/graph.ts';
import type { TracedProgram } from '../trace/trace-program.ts';
import { type Growth, growths, mostSizes, together, valueAt } from './size-growth.ts';

/** How much larger each size is where it alone is another. */
const alone = 62;

/** The parts of a recorded program that may differ between sizes. */
export interface Recording extends Pick<TracedProgram, 'inputs' | 'outputs'> {
  graph: Pick<Graph, 'initializers' | 'results'>;
}

/** A program recorded at a few sizes. @throws AgentRlError `NOT_TRACEABLE` where it does not do the same at all of them */
export class Recordings {
  readonly base: TracedProgram;
  /** At each size larger by itself, then twice at all of them larger. */
  readonly others: readonly Recording[];
  readonly #last: readonly Sizes[];

  constructor(
    trace: (sizes: Sizes) => TracedProgram,
    private readonly names: readonly string[],
    private readonly first: Sizes,
  ) {
    if (names.length > mostSizes)
      throw new AgentRlError(
        'NOT_TRACEABLE',
        `A program may have at most ${mostSizes} open sizes, got ${names.length}: ${names.join(', ')}.`,
      );
    const at = (name: string, more: number) => [name, first[name]! + more] as const;
    const single = names.map((name) =>
      Object.fromEntries(names.map((own) => at(own, own === name ? alone : 0))),
    );
    this.#last = together.map((more) =>
      Object.fromEntries(names.map((name, i) => at(name, more[i]!))),
    );
    this.base = trace(first);
    const form = formOf(this.base);
    this.others = [...single, ...this.#last].map((sizes) => {
      const traced = trace(sizes);
      if (formOf(traced) !== form) throw notTheSame('Which operations are recorded');
      // A large program has many nodes: they are kept once.
      const { initializers, results } = traced.graph;
      return { inputs: traced.inputs, outputs: traced.outputs, graph: { initializers, results } };
    });
  }

  /** How a number of the recordings grows. */
  growthOf(of: (recording: Recording) => number): Growth {
    const { names, first } = this;
    const number = of(this.base);
    const others = this.others.map(of);
    const last = others.slice(names.length);
    const slopes = others.slice(0, names.length).map((other) => (other - number) / alone);
    const fits = (growth: Growth): boolean =>
      this.#last.every((sizes, i) => valueAt(growth, sizes) === last[i]);
    const growth = growths({ names, first, number, slopes, last: last[0]! }).find(fits);
    if (growth !== undefined) return growth;
    throw new AgentRlError(
      'NOT_TRACEABLE',
      `A tensor has a dimension of ${number} at the input sizes ${JSON.stringify(first)}. A dimension must be a linear function of each input size, or of the product of two.`,
    );
  }
}

/** What must be the same at all sizes. */
const formOf = ({ graph, outputNames }: TracedProgram): string =>
  JSON.stringify([
    graph.nodes,
    graph.initializers.map(({ name, dtype }) => [name, dtype]),
    outputNames,
  ]);

export const notTheSame = (what: string): AgentRlError =>
  new AgentRlError(
    'NOT_TRACEABLE',
    `${what} must be the same at all sizes of the program; pass values that depend on a size as inputs.`,
  );
