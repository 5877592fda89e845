import { AgentRlError } from '../../core/errors.ts';
import { tfjs } from '../tfjs.ts';
import type { KernelAttributes, KernelInputs, KernelTable, TraceKernel } from './kernel.ts';
import { elementwiseKernels } from './kernels/elementwise.ts';
import { indexKernels } from './kernels/index-by-value.ts';
import { reduceKernels } from './kernels/reduce.ts';
import { shapeKernels } from './kernels/shape.ts';
import { TraceBackend, traceBackendName } from './trace-backend.ts';
import type { Value } from './value.ts';

/** Every tfjs kernel the tracer can record, by tfjs's name. */
export const traceKernels: KernelTable = {
  ...elementwiseKernels,
  ...indexKernels,
  ...reduceKernels,
  ...shapeKernels,
};

/** tfjs takes bytes for int32 and would compute with them; `Identity` is how it keeps a tensor. */
const assertNoBytes = (kernelName: string, values: Readonly<Record<string, Value>>): void => {
  if (kernelName === 'Identity') return;
  const bytes = Object.entries(values).find(([, { dtype }]) => dtype === 'uint8');
  if (bytes === undefined) return;
  throw new AgentRlError(
    'NOT_TRACEABLE',
    `The tfjs kernel "${kernelName}" received bytes [${bytes[1].shape.join(', ')}] as its input "${bytes[0]}"; only quantizedMatMul reads uint8 tensors.`,
  );
};

const register = (backend: TraceBackend, kernelName: string, kernel: TraceKernel): void => {
  tfjs.registerKernel({
    kernelName,
    backendName: traceBackendName,
    kernelFunc: ({ inputs, attrs }) => {
      const values = Object.fromEntries(
        Object.entries(inputs).flatMap(([name, info]) =>
          info === undefined ? [] : [[name, backend.lookUp(info)]],
        ),
      );
      assertNoBytes(kernelName, values);
      const [named, given]: unknown[] = [values, attrs];
      const result = kernel(backend.graph, named as KernelInputs, given as KernelAttributes);
      return Array.isArray(result)
        ? result.map((value) => backend.infoOf(value))
        : backend.infoOf(result);
    },
  });
};

/** The recording backend, registered with tfjs on the first call. */
export function traceBackend(): TraceBackend {
  const existing: unknown = tfjs.findBackend(traceBackendName);
  if (existing instanceof TraceBackend) return existing;
  const backend = new TraceBackend();
  tfjs.registerBackend(traceBackendName, () => backend, 0);
  for (const [name, kernel] of Object.entries(traceKernels)) register(backend, name, kernel);
  // Looking it up initialises it, so that later switches to it are synchronous.
  tfjs.findBackend(traceBackendName);
  return backend;
}
