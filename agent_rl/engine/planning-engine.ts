import { AgentRlError } from '../core/errors.ts';
import type { CompileOptions, Engine, Program, ProgramBody, TensorSpec } from './engine.ts';
import { peakBytes } from './onnx/peak-bytes.ts';
import { removeUnused } from './onnx/remove-unused.ts';
import { traceProgram } from './trace/trace-program.ts';

/** Records programs to say what they would hold, and runs none. */
export class PlanningEngine implements Engine {
  readonly device = 'plan';
  /** Most bytes of intermediate results of any program so far. */
  peakBytes = 0;

  async compile(
    specs: readonly TensorSpec[],
    body: ProgramBody,
    options: CompileOptions = {},
  ): Promise<Program> {
    const traced = traceProgram(specs, body, options.constants);
    removeUnused(traced);
    this.peakBytes = Math.max(this.peakBytes, peakBytes(traced));
    return {
      outputs: traced.outputs,
      run: () =>
        Promise.reject(new AgentRlError('ENGINE_FAILED', 'A planned program cannot be run.')),
      dispose: () => Promise.resolve(),
    };
  }

  async close(): Promise<void> {}
}
