/**
 * Makes CUDA multiply float32 as float32. ONNX Runtime lets it round factors to the 10 bits of TF32, and gives
 * Node no option against that; generator and learner then differ by more than `train.parityBound` allows.
 *
 * NVIDIA's libraries read the variable when they start. It must be set in the main thread, before the device is used:
 * a worker's `process.env` is a copy that no library reads. A value set outside stays.
 */
export function keepFullFloat32(device: string): void {
  if (device.startsWith('cuda')) process.env['NVIDIA_TF32_OVERRIDE'] ??= '0';
}
