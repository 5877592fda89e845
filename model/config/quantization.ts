import { isRecord } from '../../agent_rl/core/is-record.ts';
import type { ModelConfig, Quantization } from './architecture.ts';
import { linearShapes } from './parameters.ts';

/** `quant_method` of config.json for this layout. */
const method = 'agent_rl';

/** Why the layers of a model cannot be quantised so; none when they can. */
export function quantizationProblems(
  config: ModelConfig,
  { blockSize }: Quantization,
): readonly string[] {
  if (blockSize < 16 || !Number.isInteger(Math.log2(blockSize))) {
    return [`A block must be a power of two from 16, got ${blockSize}.`];
  }
  return Object.entries(linearShapes(config)).flatMap(([name, [out, width]]) =>
    width % blockSize === 0
      ? []
      : [
          `${name} [${out}, ${width}] has ${width} inputs, which is not a multiple of the block size ${blockSize}.`,
        ],
  );
}

/** The `quantization_config` of a config.json. What is wrong with it is added to `problems`. */
export function readQuantization(
  value: unknown,
  config: ModelConfig,
  problems: string[],
): Quantization | undefined {
  if (value === undefined || value === null) return undefined;
  const stored = isRecord(value) ? value : {};
  if (stored['quant_method'] !== method) {
    problems.push(
      `its weights are quantised with ${JSON.stringify(stored['quant_method'] ?? value)} (quantization_config); ` +
        `only "${method}" is supported. Use the model's float weights and quantise them with agent-rl model quantize.`,
    );
    return undefined;
  }
  const { bits, block_size: blockSize, modules } = stored;
  if (bits !== 4 || typeof blockSize !== 'number') {
    problems.push(
      `quantization_config must say "bits": 4 and a "block_size", got ${JSON.stringify({ bits, block_size: blockSize })}.`,
    );
    return undefined;
  }
  const known = Object.keys(linearShapes(config));
  if (modules !== undefined && JSON.stringify(modules) !== JSON.stringify(known)) {
    problems.push(
      `quantization_config.modules must be ${JSON.stringify(known)}, got ${JSON.stringify(modules)}.`,
    );
  }
  const quantization: Quantization = { bits: 4, blockSize };
  problems.push(...quantizationProblems(config, quantization));
  return quantization;
}

/** What config.json says about a quantised model. */
export function writeQuantization(
  config: ModelConfig,
  { bits, blockSize }: Quantization,
): Record<string, unknown> {
  const modules = Object.keys(linearShapes(config));
  return { quant_method: method, bits, block_size: blockSize, modules };
}
