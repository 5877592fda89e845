import ort, { type InferenceSession } from 'onnxruntime-node';
import { AgentRlError, messageOf } from '../core/errors.ts';
import { spanned, threadTrack } from '../core/profile/spans.ts';
import { checkInputs } from './check-inputs.ts';
import type {
  CompileOptions,
  Engine,
  Program,
  ProgramBody,
  SizedBody,
  SizedOptions,
  SizedProgram,
  Sizes,
  TensorData,
  TensorSpec,
} from './engine.ts';
import { encodeGraph, encodeModel, type EncodedModel } from './onnx/encode-model.ts';
import { type Feed, OnnxSession } from './onnx/onnx-session.ts';
import { type OpenGraph, openSizes } from './onnx/open-sizes.ts';
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
  readonly copiesInputs: boolean;
  readonly #options: OnnxEngineOptions;
  readonly #sessions = new Set<OnnxSession>();

  constructor(options: OnnxEngineOptions) {
    this.device = options.device;
    this.copiesInputs = options.device.startsWith('cuda');
    // Whatever fails is thrown with its message; ONNX Runtime would print it as well.
    ort.env.logLevel = 'fatal';
    this.#options = options;
  }

  async compile(
    specs: readonly TensorSpec[],
    body: ProgramBody,
    options: CompileOptions = {},
  ): Promise<Program> {
    const { name = 'program' } = options;
    const { recorded, session } = await this.#open(options, name, () => {
      const traced = this.#trace({ specs, body }, options.constants);
      const model = encodeModel(traced, options.constants);
      return { model, inputs: traced.inputs, outputs: traced.outputs };
    });
    return programOf(session, recorded, name);
  }

  async compileSized<Name extends string>(
    of: (sizes: Sizes<Name>) => SizedBody,
    names: readonly Name[],
    options: SizedOptions = {},
  ): Promise<SizedProgram> {
    const { name = 'program', runName = () => name, manyRows = false, constants } = options;
    const { recorded, session } = await this.#open(options, name, () => {
      const trace = (sizes: Sizes): TracedProgram => this.#trace(of(sizes), constants);
      const graph = openSizes(trace, { names, results: manyRows });
      return { model: encodeGraph(graph, constants), at: graph.at };
    });
    return sizedProgramOf(session, recorded.at, runName);
  }

  #trace({ specs, body }: SizedBody, constants?: CompileOptions['constants']): TracedProgram {
    const traced = traceProgram(specs, body, constants);
    removeUnused(traced);
    if (this.device === 'webgpu') separateScales(traced.graph);
    return traced;
  }

  /** Records a program and compiles it. */
  #open<Recorded extends { model: EncodedModel }>(
    options: CompileOptions,
    name: string,
    record: () => Recorded,
  ): Promise<{ recorded: Omit<Recorded, 'model'>; session: OnnxSession }> {
    return spanned({ track: threadTrack(), name: `compiling: ${name}` }, async () => {
      const { model, ...recorded } = record();
      return { recorded, session: await this.#sessionOf(model, options) };
    });
  }

  async #sessionOf({ bytes, apart }: EncodedModel, options: CompileOptions): Promise<OnnxSession> {
    const settings = { ...sessionOptions(this.#options, options), externalData: apart };
    const compiled = await ort.InferenceSession.create(bytes, settings).catch((thrown: unknown) => {
      throw new AgentRlError(
        'ENGINE_FAILED',
        `ONNX Runtime rejected the program on ${this.device}: ${withoutSource(messageOf(thrown))}`,
        { cause: thrown },
      );
    });
    const session = new OnnxSession(compiled, this.#options.memorySettings, (disposed) =>
      this.#sessions.delete(disposed),
    );
    this.#sessions.add(session);
    return session;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.dispose()));
    this.#sessions.clear();
  }
}

/** Functions of their own, so that a program holds nothing of what it was recorded from. */
const programOf = (
  session: OnnxSession,
  { inputs, outputs }: Pick<TracedProgram, 'inputs' | 'outputs'>,
  name: string,
): Program => ({
  outputs,
  run: async (given, wanted) => {
    session.assertOpen();
    return session.run(feedsOf(inputs, given), { outputs, wanted, name });
  },
  dispose: () => session.dispose(),
});

const sizedProgramOf = (
  session: OnnxSession,
  at: OpenGraph['at'],
  runName: (sizes: Sizes) => string,
): SizedProgram => ({
  run: async (given, { sizes, wanted }) => {
    session.assertOpen();
    const { inputs, outputs, shapes } = at(sizes);
    const feeds = feedsOf(inputs, given);
    for (const own of shapes) feeds.push({ ...own, dtype: 'int64' });
    return session.run(feeds, { outputs, wanted, name: runName(sizes) });
  },
  dispose: () => session.dispose(),
});

function feedsOf(
  specs: readonly TensorSpec[],
  given: Readonly<Record<string, TensorData>>,
): Feed[] {
  checkInputs(specs, given);
  return specs.map((spec) => ({ ...spec, data: given[spec.name]! }));
}
