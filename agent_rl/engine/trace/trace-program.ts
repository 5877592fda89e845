import { AgentRlError, messageOf } from '../../core/errors.ts';
import { checkTensorData } from '../check-inputs.ts';
import type { ProgramBody, TensorData, TensorSpec } from '../engine.ts';
import { withBackend, type Tensor } from '../tfjs.ts';
import { Graph } from './graph.ts';
import { traceBackend } from './install.ts';
import { traceBackendName } from './trace-backend.ts';
import type { Value } from './value.ts';

/** A program as recorded: its graph, and which of the graph's names are its outputs. */
export interface TracedProgram {
  graph: Graph;
  inputs: readonly TensorSpec[];
  outputs: readonly TensorSpec[];
  /** Name in the graph of each output, in the order of `outputs`. */
  outputNames: readonly string[];
}

const outputSpec = (name: string, { dtype, shape }: Value): TensorSpec => {
  if (dtype === 'float32' || dtype === 'int32') return { name, shape: [...shape], dtype };
  throw new AgentRlError(
    'NOT_TRACEABLE',
    `Output "${name}" is ${dtype}; cast it to float32 or int32 before returning it.`,
  );
};

const missingKernel = /Kernel '(\w+)' not registered/;

const asTraceError = (thrown: unknown): unknown => {
  if (AgentRlError.is(thrown)) return thrown;
  const kernel = missingKernel.exec(messageOf(thrown))?.[1];
  if (kernel === undefined) return thrown;
  return new AgentRlError(
    'NOT_TRACEABLE',
    `The tfjs kernel "${kernel}" cannot be traced; write the step with other operations, or add the kernel ` +
      'to the table in agent_rl/engine/trace/kernels.',
    { cause: thrown },
  );
};

/**
 * Runs `body` once on symbolic tensors and returns the recording. Leaves no tensor behind.
 *
 * @throws AgentRlError `NOT_TRACEABLE` when the body does what cannot be recorded.
 */
export function traceProgram(
  specs: readonly TensorSpec[],
  body: ProgramBody,
  constants: Readonly<Record<string, TensorData>> = {},
): TracedProgram {
  const backend = traceBackend();
  const graph = new Graph();
  const record = (): Omit<TracedProgram, 'graph'> => {
    const tensors: Record<string, Tensor> = {};
    for (const spec of specs) {
      const data = constants[spec.name];
      const value =
        data === undefined
          ? graph.input(spec.name, spec.shape, spec.dtype)
          : graph.constant(spec.name, spec, checkTensorData(spec, data));
      tensors[spec.name] = backend.tensorOf(value);
    }
    const results = Object.entries(body(tensors));
    const values = results.map(([name, tensor]) => [name, backend.lookUp(tensor)] as const);
    const traced = {
      inputs: specs.filter((spec) => constants[spec.name] === undefined),
      outputs: values.map(([name, value]) => outputSpec(name, value)),
      outputNames: values.map(([, value]) => graph.nameOf(value)),
    };
    // Bodies keep what leaves a gradient's scope.
    for (const [, tensor] of results) tensor.dispose();
    return traced;
  };
  try {
    return { graph, ...withBackend(traceBackendName, () => backend.record(graph, record)) };
  } catch (thrown) {
    throw asTraceError(thrown);
  }
}
