import { append } from '../../core/long-lists.ts';
import { type Graph, readBy } from '../trace/graph.ts';
import type { TracedProgram } from '../trace/trace-program.ts';

/**
 * Takes out of the graph what no output depends on. ONNX Runtime would compute it, and hold what it is computed from:
 * gradients of frozen weights, the value of a block of which only the gradient is wanted.
 */
export function removeUnused({ graph, outputNames }: TracedProgram): void {
  const used = new Set(outputNames);
  const kept = graph.nodes.toReversed().filter((node) => {
    if (!node.outputs.some((name) => used.has(name))) return false;
    for (const name of readBy(node)) used.add(name);
    return true;
  });
  replace(graph.nodes, kept.toReversed());
  replace(
    graph.initializers,
    graph.initializers.filter(({ name }) => used.has(name)),
  );
}

function replace<Item>(list: Item[], items: readonly Item[]): void {
  list.length = 0;
  append(list, items);
}

/**
 * Rewrites `graph` so that 1 / sqrt(mean(x^2) + eps) is computed by nodes of its own. ONNX Runtime's WebGPU kernel
 * fills that output of SimplifiedLayerNormalization with the mean of LayerNormalization, which is 0 here, and
 * every gradient through it is then wrong.
 */
export function separateScales(graph: Graph): void {
  for (const node of graph.nodes.splice(0)) {
    const { operator, inputs, outputs, attributes } = node;
    const [normed, scale] = outputs;
    if (operator !== 'SimplifiedLayerNormalization' || scale === undefined) {
      graph.nodes.push(node);
      continue;
    }
    const rows = inputs[0]!;
    const { float: epsilon } = attributes['epsilon'] as { float: number };
    graph.nodes.push({ ...node, outputs: [normed!] });
    const mean = graph.emit('ReduceMean', [graph.emit('Mul', [rows, rows]), graph.int64s([-1])]);
    const root = graph.emit('Sqrt', [graph.emit('Add', [mean, graph.scalar(epsilon)])]);
    graph.emit('Reciprocal', [root], {}, scale);
  }
}
