import { messageOf } from '../core/errors.ts';
import { assertComputes } from './assert-computes.ts';
import { EagerEngine, tensorflowPackage } from './eager-engine.ts';
import type { OnnxEngineOptions } from './onnx-engine.ts';
import { deviceNeeds, loadOnnxEngine } from './open-engine.ts';

export interface DeviceReport {
  device: string;
  available: boolean;
  /** What runs it, or what is missing. */
  detail: string;
}

type OnnxModule = Awaited<ReturnType<typeof loadOnnxEngine>>;

async function probe(
  { OnnxEngine }: OnnxModule,
  device: OnnxEngineOptions['device'],
): Promise<DeviceReport> {
  const engine = new OnnxEngine({ device, threads: 1 });
  try {
    await assertComputes(engine);
    return { device, available: true, detail: `ONNX Runtime, ${device} execution provider` };
  } catch (thrown) {
    return { device, available: false, detail: `${deviceNeeds[device]}. ${messageOf(thrown)}` };
  } finally {
    await engine.close();
  }
}

async function probeTensorflow(): Promise<DeviceReport> {
  try {
    await EagerEngine.open('tensorflow');
    return { device: 'tensorflow', available: true, detail: `tfjs through ${tensorflowPackage}` };
  } catch (thrown) {
    return { device: 'tensorflow', available: false, detail: messageOf(thrown) };
  }
}

const onnxDevices = ['cpu', 'cuda', 'webgpu'] as const;

async function probeOnnx(): Promise<DeviceReport[]> {
  let onnx: OnnxModule;
  try {
    onnx = await loadOnnxEngine();
  } catch (thrown) {
    const detail = messageOf(thrown);
    return onnxDevices.map((device) => ({ device, available: false, detail }));
  }
  const built = onnx.builtInDevices();
  const reports: DeviceReport[] = [];
  for (const device of onnxDevices) {
    const detail = `this ONNX Runtime was built without ${device}`;
    reports.push(
      built.has(device) ? await probe(onnx, device) : { device, available: false, detail },
    );
  }
  return reports;
}

/** Every device `openEngine` knows, and whether it works here. */
export const listDevices = async (): Promise<DeviceReport[]> => [
  ...(await probeOnnx()),
  await probeTensorflow(),
];
