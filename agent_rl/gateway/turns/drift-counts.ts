import type { AskedMessage } from './asked.ts';
import { type Drift, drifts, isTurn, type TurnNode } from './turn-tree.ts';

/** Counts what clients change of turns, of each turn once by kind. */
export class DriftCounts {
  readonly counts = Object.fromEntries(drifts.map((drift) => [drift, 0])) as Record<Drift, number>;
  readonly #counted = new WeakMap<TurnNode, Set<Drift>>();

  /** Of a turn that was sent back. */
  sentBack(node: TurnNode, found: readonly Drift[]): void {
    node.delivered = true;
    const counted = this.#counted.get(node) ?? new Set();
    this.#counted.set(node, counted);
    for (const drift of found.filter((one) => !counted.has(one))) {
      counted.add(drift);
      this.counts[drift] += 1;
    }
  }

  /** Of a request that holds turns of the model and continues none of them. */
  begunAnew(
    messages: readonly AskedMessage[],
    { nodes, tools }: { nodes: readonly TurnNode[]; tools: string },
  ): void {
    const [first] = messages.flatMap(
      (message) => nodes.find((node) => isTurn(message, node)) ?? [],
    );
    if (first !== undefined) this.counts[first.tools === tools ? 'history' : 'tools'] += 1;
  }
}
