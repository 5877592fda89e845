import type { TracedProgram } from '../trace/trace-program.ts';

/**
 * Takes out of the graph what no output depends on. ONNX Runtime would compute it, and hold what it is computed from:
 * gradients of frozen weights, the value of a block of which only the gradient is wanted.
 */
export function removeUnused({ graph, outputNames }: TracedProgram): void {
  const used = new Set(outputNames);
  const kept = graph.nodes.toReversed().filter(({ inputs, outputs }) => {
    if (!outputs.some((name) => used.has(name))) return false;
    for (const name of inputs) used.add(name);
    return true;
  });
  graph.nodes.splice(0, graph.nodes.length, ...kept.toReversed());
  const initializers = graph.initializers.filter(({ name }) => used.has(name));
  graph.initializers.splice(0, graph.initializers.length, ...initializers);
}
