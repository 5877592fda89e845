import type { Graph } from '../trace/graph.ts';

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
