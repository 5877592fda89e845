/** NVIDIA's libraries read it when they start: 0 forbids TF32. */
const variable = 'NVIDIA_TF32_OVERRIDE';

/**
 * Makes CUDA multiply float32 as float32. ONNX Runtime lets it round factors to the 10 bits of TF32, and gives
 * Node no option against that; generator and learner then differ by more than `train.parityBound` allows.
 *
 * It must run in the main thread, before the device is used: a worker's `process.env` is a copy that no library
 * reads. A value set outside stays.
 */
export function keepFullFloat32(device: string): void {
  if (device.startsWith('cuda')) process.env[variable] ??= '0';
}
