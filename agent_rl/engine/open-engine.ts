import { AgentRlError, messageOf, nodeCodeOf } from '../core/errors.ts';
import { EagerEngine, tensorflowPackage } from './eager-engine.ts';
import type { Engine } from './engine.ts';
import { keepFullFloat32 } from './full-float32.ts';
import type { OnnxEngineOptions } from './onnx-engine.ts';
import { rmsNorm, tf } from './ops.ts';

export interface EngineOptions {
  /** `cpu`, `cuda`, `cuda:n` (the n-th CUDA device), `webgpu`, `tensorflow`, or `eager` for plain JavaScript. */
  device: string;
  /** Threads of one matrix product on the CPU. */
  threads: number;
  /** Settings or flags that lower what is held at once, for the message when memory runs out. */
  memorySettings?: string;
}

/**
 * Opens the engine of a device, after running one gradient on it whose value is known.
 *
 * @throws AgentRlError `CONFIG_INVALID` for an unknown name or thread count, `DEVICE_UNAVAILABLE` when the device
 * is not there or computes wrongly.
 */
export async function openEngine({
  device,
  threads,
  memorySettings,
}: EngineOptions): Promise<Engine> {
  if (!Number.isInteger(threads) || threads < 1) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `threads must be a whole number from 1, got ${threads}.`,
    );
  }
  if (device === 'tensorflow') {
    return EagerEngine.open('tensorflow');
  }
  if (device === 'eager') return EagerEngine.open('cpu');
  if (!/^(?:cpu|webgpu|cuda(?::\d+)?)$/.test(device)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `Unknown device "${device}"; use cpu, cuda, cuda:n, webgpu or tensorflow.`,
    );
  }
  keepFullFloat32(device);
  const { OnnxEngine } = await loadOnnxEngine();
  const onnxDevice = device as OnnxEngineOptions['device'];
  const engine = new OnnxEngine({ device: onnxDevice, threads, memorySettings });
  await assertRuns(engine);
  return engine;
}

/**
 * Loads ONNX Runtime. npm leaves it out, without a word, where its install step cannot download the CUDA files that
 * most machines do not need.
 *
 * @throws AgentRlError `DEVICE_UNAVAILABLE` where it is not installed
 */
async function loadOnnxEngine() {
  try {
    return await import('./onnx-engine.ts');
  } catch (cause) {
    const absent = /MODULE_NOT_FOUND/.test(nodeCodeOf(cause));
    if (!absent || !messageOf(cause).includes('onnxruntime-node')) throw cause;
    throw new AgentRlError(
      'DEVICE_UNAVAILABLE',
      'onnxruntime-node is not installed: its install step could not download the CUDA files, so npm skipped the package. Run `npm install --ignore-scripts` in the project; only CUDA needs those files.',
      { cause },
    );
  }
}

const deviceNeeds: Readonly<Record<string, string>> = {
  cuda: 'CUDA needs an NVIDIA driver, the CUDA provider of ONNX Runtime and matching CUDA libraries',
  webgpu: 'WebGPU needs a graphics adapter with a Vulkan, Metal or D3D12 driver',
  cpu: 'the CPU provider is part of onnxruntime-node',
};

async function assertRuns(engine: Engine): Promise<void> {
  try {
    await assertComputes(engine);
  } catch (cause) {
    const kind = engine.device.split(':')[0]!;
    const detail = messageOf(cause);
    throw new AgentRlError(
      'DEVICE_UNAVAILABLE',
      `Device "${engine.device}" cannot be used: ${deviceNeeds[kind] ?? kind}. ${detail}`,
      { cause },
    );
  }
}

const input = Float32Array.of(1, 7);
/** Of 1 / rms with rms = 5: 1 / 5 - 1 / (2 * 125), and -7 / (2 * 125). */
const expected = [0.196, -0.028];
const tolerance = 1e-3;

/**
 * Runs a gradient on the device whose value is known: a provider may be listed and have no device, and a device
 * may compute values rightly and gradients wrongly.
 *
 * @throws AgentRlError `ENGINE_FAILED` when it does not run or the numbers are wrong.
 */
async function assertComputes(engine: Engine): Promise<void> {
  const spec = { name: 'x', shape: [1, 2], dtype: 'float32' } as const;
  const program = await engine.compile([spec], ({ x }) => {
    const first = tf.tensor1d([1, 0]);
    const gradient = tf.grad((v) => tf.sum(tf.mul(rmsNorm(v, tf.ones([2]), 0), first)));
    return { gradient: gradient(x!) };
  });
  const { gradient } = await program.run({ x: input });
  await program.dispose();
  const wrong = expected.some((value, i) => !(Math.abs(gradient![i]! - value) < tolerance));
  if (!wrong) return;
  throw new AgentRlError(
    'ENGINE_FAILED',
    `Its results are wrong: the gradient of a root-mean-square norm should be [${expected.join(', ')}], got [${gradient!.join(', ')}].`,
  );
}

export interface DeviceReport {
  device: string;
  available: boolean;
  /** What runs it, or what is missing. */
  detail: string;
}

const onnxDevices = ['cpu', 'cuda', 'webgpu'] as const;

async function tryOnnx(device: (typeof onnxDevices)[number]): Promise<string> {
  const { builtInDevices, OnnxEngine } = await loadOnnxEngine();
  if (!builtInDevices().has(device))
    throw new Error(`this ONNX Runtime was built without ${device}`);
  const engine = new OnnxEngine({ device, threads: 1 });
  try {
    await assertComputes(engine);
    return `ONNX Runtime, ${device} execution provider`;
  } catch (thrown) {
    throw new Error(`${deviceNeeds[device]}. ${messageOf(thrown)}`, { cause: thrown });
  } finally {
    await engine.close();
  }
}

async function tryTensorflow(): Promise<string> {
  await EagerEngine.open('tensorflow');
  return `TensorFlow.js with ${tensorflowPackage}`;
}

/** Every device `openEngine` knows, and whether it works here. */
export async function listDevices(): Promise<DeviceReport[]> {
  const reports: DeviceReport[] = [];
  for (const device of [...onnxDevices, 'tensorflow'] as const) {
    try {
      const detail = await (device === 'tensorflow' ? tryTensorflow() : tryOnnx(device));
      reports.push({ device, available: true, detail });
    } catch (thrown) {
      reports.push({ device, available: false, detail: messageOf(thrown) });
    }
  }
  return reports;
}
