import ort from 'onnxruntime-node';
import { messageOf } from '../core/errors.ts';
import { assertComputes } from './assert-computes.ts';
import { EagerEngine, tensorflowPackage } from './eager-engine.ts';
import { OnnxEngine, type OnnxEngineOptions } from './onnx-engine.ts';

export interface DeviceReport {
  device: string;
  available: boolean;
  /** What runs it, or what is missing. */
  detail: string;
}

async function probe(device: OnnxEngineOptions['device']): Promise<DeviceReport> {
  const engine = new OnnxEngine({ device, threads: 1 });
  try {
    await assertComputes(engine);
    return { device, available: true, detail: `ONNX Runtime, ${device} execution provider` };
  } catch (thrown) {
    return { device, available: false, detail: messageOf(thrown) };
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

/** Every device `openEngine` knows, and whether it works here. */
export async function listDevices(): Promise<DeviceReport[]> {
  const reports: DeviceReport[] = [];
  const built = new Set(ort.listSupportedBackends().map((backend) => backend.name));
  for (const device of ['cpu', 'cuda', 'webgpu'] as const) {
    reports.push(
      built.has(device)
        ? await probe(device)
        : { device, available: false, detail: `this ONNX Runtime was built without ${device}` },
    );
  }
  reports.push(await probeTensorflow());
  return reports;
}
