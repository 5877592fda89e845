import { messageOf } from '../core/errors.ts';
import { EagerEngine, tensorflowPackage } from './eager-engine.ts';
import { assertComputes, deviceNeeds, loadOnnxEngine } from './open-engine.ts';

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
  return `tfjs through ${tensorflowPackage}`;
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
