import { AgentRlError } from '../core/errors.ts';
import { checkInputs } from './check-inputs.ts';
import {
  type CompileOptions,
  type Engine,
  type Program,
  type ProgramBody,
  type SizedBody,
  type SizedOptions,
  type SizedProgram,
  type Sizes,
  type TensorData,
  type TensorSpec,
  wantedOf,
} from './engine.ts';
import { installPlainKernels } from './plain/install.ts';
import { ProgramCache } from './program-cache.ts';
import { tfjs, withBackend, type Tensor } from './tfjs.ts';
import { traceProgram } from './trace/trace-program.ts';

/** A real tfjs backend: `cpu` is the slow, obvious oracle; `tensorflow` needs an optional package. */
export type EagerBackend = 'cpu' | 'tensorflow';

/** Package that brings tfjs's `tensorflow` backend. */
export const tensorflowPackage = '@tensorflow/tfjs-node-gpu';

async function loadTensorflow(): Promise<void> {
  if (tfjs.findBackend('tensorflow') !== null) return;
  try {
    await import(tensorflowPackage);
  } catch (cause) {
    throw new AgentRlError(
      'DEVICE_UNAVAILABLE',
      `Device "tensorflow" needs the optional package ${tensorflowPackage}, which could not be loaded; ` +
        `run npm install ${tensorflowPackage}@4.22.0, or choose device "cpu".`,
      { cause },
    );
  }
}

const tensorOf = ({ shape, dtype }: TensorSpec, data: TensorData): Tensor =>
  // A copy, because a backend may keep the array it is given. tfjs has no bytes.
  dtype === 'uint8'
    ? tfjs.tensor(Int32Array.from(data), [...shape], 'int32')
    : tfjs.tensor(data.slice(), [...shape], dtype);

/** Of a program of open sizes. */
const sizesKept = 24;

/** Runs program bodies operation by operation on a tfjs backend. */
export class EagerEngine implements Engine {
  readonly compiles = false;
  readonly copiesInputs = false;

  private constructor(readonly device: EagerBackend) {}

  /** @throws AgentRlError `DEVICE_UNAVAILABLE` when the backend's package is absent. */
  static async open(device: EagerBackend): Promise<EagerEngine> {
    if (device === 'tensorflow') await loadTensorflow();
    else installPlainKernels();
    return new EagerEngine(device);
  }

  async compile(
    specs: readonly TensorSpec[],
    body: ProgramBody,
    { constants = {} }: CompileOptions = {},
  ): Promise<Program> {
    const { outputs } = traceProgram(specs, body, constants);
    const given = specs.filter(({ name }) => constants[name] === undefined);
    const evaluate = (
      inputs: Readonly<Record<string, TensorData>>,
      wanted: readonly string[] | undefined,
    ): Record<string, TensorData> => {
      const tensors: Record<string, Tensor> = {};
      for (const spec of specs) tensors[spec.name] = tensorOf(spec, inputs[spec.name]!);
      const results = body(tensors);
      const fetched = wantedOf(outputs, wanted).map(({ name, dtype }) => {
        // A cast may leave the earlier type's array behind the tensor.
        const data = results[name]!.dataSync();
        return [name, dtype === 'int32' ? Int32Array.from(data) : Float32Array.from(data)];
      });
      // Bodies keep what leaves a gradient's scope.
      for (const tensor of Object.values(results)) tensor.dispose();
      return Object.fromEntries(fetched) as Record<string, TensorData>;
    };
    return {
      outputs,
      run: async (inputs, wanted) => {
        checkInputs(given, inputs);
        return withBackend(this.device, () => evaluate({ ...inputs, ...constants }, wanted));
      },
      dispose: async () => undefined,
    };
  }

  async compileSized<Name extends string>(
    of: (sizes: Sizes<Name>) => SizedBody,
    names: readonly Name[],
    options?: SizedOptions,
  ): Promise<SizedProgram> {
    const programs = new ProgramCache(sizesKept);
    const programOf = (sizes: Sizes): Promise<Program> =>
      programs.get(names.map((name) => sizes[name]).join(' '), () => {
        const { specs, body } = of(sizes);
        return this.compile(specs, body, options);
      });
    return {
      run: async (inputs, { sizes, wanted }) => (await programOf(sizes)).run(inputs, wanted),
      dispose: () => programs.clear(),
    };
  }

  async close(): Promise<void> {}
}
