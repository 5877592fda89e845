import ort, { type InferenceSession, type Tensor } from 'onnxruntime-node';
import { AgentRlError, messageOf } from '../core/errors.ts';
import { spanned, threadTrack } from '../core/profile/spans.ts';
import { checkInputs, checkTensorData } from './check-inputs.ts';
import {
  type CompileOptions,
  type Engine,
  type Program,
  type ProgramBody,
  type TensorData,
  type TensorSpec,
  wantedOf,
} from './engine.ts';
import { encodeModel, outputLabel } from './onnx/encode-model.ts';
import { removeUnused, separateScales } from './onnx/rewrite-graph.ts';
import { traceProgram, type TracedProgram } from './trace/trace-program.ts';

/** The devices that this build of ONNX Runtime knows, whether or not they are here. */
export const builtInDevices = (): Set<string> =>
  new Set(ort.listSupportedBackends().map(({ name }) => name));

export interface OnnxEngineOptions {
  /** Threads of one matrix product. */
  threads: number;
  /** An execution provider of ONNX Runtime; `cuda:1` is the second CUDA device. */
  device: 'cpu' | 'webgpu' | 'cuda' | `cuda:${number}`;
  /** Settings or flags that lower what programs hold at once, for the message when memory runs out. */
  memorySettings?: string | undefined;
  /** Each program writes a profile of its runs to a file whose path begins so, when it is disposed. */
  profilePrefix?: string;
}

const providerOf = (device: string): InferenceSession.ExecutionProviderConfig => {
  const [name = device, index] = device.split(':');
  if (name === 'cuda') return { name, deviceId: Number(index ?? 0) };
  return name;
};

const sessionOptions = (
  { device, threads, profilePrefix }: OnnxEngineOptions,
  { keepRecomputation = false, threads: shared }: CompileOptions,
): InferenceSession.SessionOptions => ({
  executionProviders: [providerOf(device)],
  intraOpNumThreads: shared ?? threads,
  interOpNumThreads: 1,
  graphOptimizationLevel: 'all',
  // Planning one block for all activations held 1.7 times the memory at the same speed.
  enableMemPattern: false,
  // An arena of its own kept every cached program's peak: 2.7 times the memory over three shapes, same speed.
  enableCpuMemArena: false,
  logSeverityLevel: 4,
  ...(profilePrefix !== undefined && { enableProfiling: true, profileFilePrefix: profilePrefix }),
  extra: {
    ...(keepRecomputation && {
      optimization: { disable_specified_optimizers: 'CommonSubexpressionElimination' },
    }),
    session: {
      // ONNX Runtime computes on the CPU, and says nothing, what CUDA has no kernel for.
      ...(device.startsWith('cuda') && { disable_cpu_ep_fallback: '1' }),
      ...(shared !== undefined && { intra_op: { allow_spinning: '0' } }),
    },
  },
});

/** What ONNX Runtime says in words, without the place in its C++ source and the condition that failed there. */
const withoutSource = (message: string): string =>
  message.replace(/^\S+\.(?:cc|cpp|h):\d+ .*? was (?:true|false)\. /s, '');

/** Compiles traced programs with ONNX Runtime. One thread should own it: `run` blocks the calling thread. */
export class OnnxEngine implements Engine {
  readonly compiles = true;
  readonly device: string;
  readonly #options: OnnxEngineOptions;
  readonly #programs = new Set<Program>();

  constructor(options: OnnxEngineOptions) {
    this.device = options.device;
    // Whatever fails is thrown with its message; ONNX Runtime would print it as well.
    ort.env.logLevel = 'fatal';
    this.#options = options;
  }

  async compile(
    specs: readonly TensorSpec[],
    body: ProgramBody,
    options: CompileOptions = {},
  ): Promise<Program> {
    const traced = traceProgram(specs, body, options.constants);
    removeUnused(traced);
    if (this.device === 'webgpu') separateScales(traced.graph);
    const settings = sessionOptions(this.#options, options);
    const { name = 'program' } = options;
    const session = await spanned({ track: threadTrack(), name: `compiling: ${name}` }, () =>
      ort.InferenceSession.create(encodeModel(traced), settings),
    ).catch((thrown: unknown) => {
      throw new AgentRlError(
        'ENGINE_FAILED',
        `ONNX Runtime refused the program on ${this.device}: ${withoutSource(messageOf(thrown))}`,
        { cause: thrown },
      );
    });
    const { memorySettings } = this.#options;
    const settled = { memorySettings, name };
    const program = new OnnxProgram(session, traced, settled, (disposed) =>
      this.#programs.delete(disposed),
    );
    this.#programs.add(program);
    return program;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#programs].map((program) => program.dispose()));
    this.#programs.clear();
  }
}

const checkOutput = (spec: TensorSpec, data: Tensor['data']): TensorData => {
  if (data instanceof Float32Array || data instanceof Int32Array)
    return checkTensorData(spec, data);
  throw new AgentRlError('ENGINE_FAILED', `Output "${spec.name}" is not an array of numbers.`);
};

const outOfMemory = /alloc|memory/i;

class OnnxProgram implements Program {
  readonly outputs: readonly TensorSpec[];
  readonly #inputs: readonly TensorSpec[];
  readonly #running = new Set<Promise<unknown>>();
  #disposed = false;

  constructor(
    private readonly session: InferenceSession,
    { inputs, outputs }: TracedProgram,
    private readonly options: { memorySettings: string | undefined; name: string },
    private readonly onDispose: (program: Program) => void,
  ) {
    this.#inputs = inputs;
    this.outputs = outputs;
  }

  async run(
    inputs: Readonly<Record<string, TensorData>>,
    wanted?: readonly string[],
  ): Promise<Record<string, TensorData>> {
    if (this.#disposed) {
      throw new AgentRlError('ENGINE_FAILED', 'A disposed program was run; compile it again.');
    }
    checkInputs(this.#inputs, inputs);
    const feeds: Record<string, Tensor> = {};
    for (const { name, shape, dtype } of this.#inputs) {
      feeds[name] = new ort.Tensor(dtype, inputs[name]!, shape);
    }
    const outputs = wantedOf(this.outputs, wanted);
    const fetched = await this.#execute(
      feeds,
      outputs.map(({ name }) => outputLabel(name)),
    );
    const checked = (spec: TensorSpec): [string, TensorData] => [
      spec.name,
      checkOutput(spec, fetched[outputLabel(spec.name)]!.data),
    ];
    return Object.fromEntries(outputs.map(checked));
  }

  async #execute(
    feeds: Record<string, Tensor>,
    fetches: readonly string[],
  ): Promise<InferenceSession.ReturnType> {
    const span = { track: threadTrack(), name: this.options.name };
    const running = spanned(span, () => this.session.run(feeds, fetches));
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
    this.onDispose(this);
    // The session may not be released under a run: a cache can evict a program that is still working.
    await Promise.allSettled(this.#running);
    await this.session.release();
  }
}
