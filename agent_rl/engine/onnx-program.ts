import ort, { type InferenceSession, type Tensor } from 'onnxruntime-node';
import { AgentRlError, messageOf } from '../core/errors.ts';
import { checkInputs, checkTensorData } from './check-inputs.ts';
import type { Program, TensorData, TensorSpec } from './engine.ts';
import { outputLabel } from './onnx/encode-model.ts';
import type { TracedProgram } from './trace/trace-program.ts';

const checkOutput = (spec: TensorSpec, data: Tensor['data']): TensorData => {
  if (data instanceof Float32Array || data instanceof Int32Array)
    return checkTensorData(spec, data);
  throw new AgentRlError('ENGINE_FAILED', `Output "${spec.name}" is not an array of numbers.`);
};

const outOfMemory = /alloc|memory/i;

interface ProgramOptions {
  /** Settings or flags that lower what is held at once. */
  memorySettings: string | undefined;
  onDispose: (program: Program) => void;
}

/** A session of ONNX Runtime as a program. */
export class OnnxProgram implements Program {
  readonly outputs: readonly TensorSpec[];
  readonly #inputs: readonly TensorSpec[];
  readonly #running = new Set<Promise<unknown>>();
  #disposed = false;

  constructor(
    private readonly session: InferenceSession,
    { inputs, outputs }: TracedProgram,
    private readonly options: ProgramOptions,
  ) {
    this.#inputs = inputs;
    this.outputs = outputs;
  }

  async run(inputs: Readonly<Record<string, TensorData>>): Promise<Record<string, TensorData>> {
    if (this.#disposed) {
      throw new AgentRlError('ENGINE_FAILED', 'A disposed program was run; compile it again.');
    }
    checkInputs(this.#inputs, inputs);
    const feeds: Record<string, Tensor> = {};
    for (const { name, shape, dtype } of this.#inputs) {
      feeds[name] = new ort.Tensor(dtype, inputs[name]!, shape);
    }
    const fetched = await this.#execute(feeds);
    const checked = (spec: TensorSpec): [string, TensorData] => [
      spec.name,
      checkOutput(spec, fetched[outputLabel(spec.name)]!.data),
    ];
    return Object.fromEntries(this.outputs.map(checked));
  }

  async #execute(feeds: Record<string, Tensor>): Promise<InferenceSession.ReturnType> {
    const running = this.session.run(feeds);
    this.#running.add(running);
    try {
      return await running;
    } catch (cause) {
      const problem = messageOf(cause);
      const { memorySettings } = this.options;
      const remedy = memorySettings === undefined ? '' : `: lower ${memorySettings}`;
      const hint = outOfMemory.test(problem) ? `. Memory ran out${remedy}.` : '';
      throw new AgentRlError('ENGINE_FAILED', `The device failed: ${problem}${hint}`, { cause });
    } finally {
      this.#running.delete(running);
    }
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    this.options.onDispose(this);
    // The session may not be released under a run: a cache can evict a program that is still working.
    await Promise.allSettled(this.#running);
    await this.session.release();
  }
}
