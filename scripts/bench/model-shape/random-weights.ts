import { allSpecs } from '../../../model/adapters/adapter.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { sizeOf } from '../../../agent_rl/engine/check-inputs.ts';

/**
 * Weights to be timed with, not learned with: matrices uniform with a standard deviation of 0.02, vectors 1, and of
 * quantised matrices random bytes with scales to match. A multiply-add for each number, as there are 600 million;
 * streams of their own per tensor would take minutes.
 */
export function randomWeights(config: ModelConfig): Map<string, Float32Array | Uint8Array> {
  let state = 12_345;
  const next = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0);
  const bound = 0.02 * Math.sqrt(3);
  // Bytes stand for whole numbers from -8 to 7.
  const scale = bound / 8;
  const weights = new Map<string, Float32Array | Uint8Array>();
  for (const { name, shape, dtype } of allSpecs(config)) {
    const count = sizeOf(shape);
    if (dtype === 'uint8') {
      const bytes = new Uint8Array(count);
      for (let i = 0; i < count; i++) bytes[i] = next() >>> 24;
      weights.set(name, bytes);
      continue;
    }
    const values = new Float32Array(count);
    if (name.endsWith('_scale')) values.fill(scale);
    else if (shape.length === 1) values.fill(1);
    else for (let i = 0; i < count; i++) values[i] = next() * (bound / 2 ** 31);
    weights.set(name, values);
  }
  return weights;
}
