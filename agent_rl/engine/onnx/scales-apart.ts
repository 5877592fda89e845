import type { Graph, GraphNode } from '../trace/graph.ts';

const usesScale = ({ operator, outputs }: GraphNode): boolean =>
  operator === 'SimplifiedLayerNormalization' && outputs.length > 1;

const epsilonOf = ({ attributes }: GraphNode): number => {
  const epsilon = attributes['epsilon'];
  return epsilon !== undefined && 'float' in epsilon ? epsilon.float : 0;
};

/**
 * Rewrites `graph` so that 1 / sqrt(mean(x^2) + eps) is computed by nodes of its own. ONNX Runtime's WebGPU kernel
 * fills that output of SimplifiedLayerNormalization with the mean of LayerNormalization, which is 0 here, and
 * every gradient through it is then wrong.
 */
export function computeScalesApart(graph: Graph): void {
  for (const node of graph.nodes.splice(0)) {
    if (!usesScale(node)) {
      graph.nodes.push(node);
      continue;
    }
    const rows = node.inputs[0]!;
    graph.nodes.push({ ...node, outputs: node.outputs.slice(0, 1) });
    const mean = graph.emit('ReduceMean', [graph.emit('Mul', [rows, rows]), graph.int64s([-1])]);
    const root = graph.emit('Sqrt', [graph.emit('Add', [mean, graph.scalar(epsilonOf(node))])]);
    const outputs = node.outputs.slice(1);
    graph.nodes.push({
      operator: 'Reciprocal',
      domain: '',
      inputs: [root],
      outputs,
      attributes: {},
    });
  }
}
