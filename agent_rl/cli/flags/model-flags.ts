import type { Quantization } from '../../../model/config/architecture.ts';
import { AgentRlError } from '../../core/errors.ts';
import {
  count,
  listFlag,
  numberFlag,
  requiredFlag,
  switchFlag,
  textFlag,
  type Values,
} from './flag.ts';

/** The model of a command that runs one or writes another from it. */
export const modelFlag = requiredFlag(
  'Model folder, or a model on the Hugging Face hub as org/name',
);

export const revisionFlag = textFlag('Branch, tag or commit of a model on the hub (default: main)');

export const adapterFlag = listFlag(
  'Folder of an adapter for the model; repeat the flag to add several adapters together',
);

/** What a command computes with. */
export const engineFlags = {
  device: textFlag('cpu, cuda, cuda:N, webgpu or tensorflow', 'cpu'),
  'engine-threads': numberFlag('Engine threads', count),
};

/** Flags of the commands that run a model by itself. */
export const modelFlags = {
  model: modelFlag,
  revision: revisionFlag,
  adapter: adapterFlag,
  quantize: switchFlag('Quantize the linear layers to four bits on load'),
  'quantize-block-size': numberFlag(
    'With --quantize: number of weights that share a scale. A power of two, at least 16 (default: 64)',
    { from: 16, whole: true },
  ),
  ...engineFlags,
};

/** The values of `modelFlags`, among others, as a job takes them. @throws AgentRlError `CONFIG_INVALID` */
export function modelJob<Given extends Values<typeof modelFlags>>(given: Given) {
  const { adapter: adapters, quantize, quantizeBlockSize, ...same } = given;
  if (!quantize && quantizeBlockSize !== undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--quantize-block-size ${quantizeBlockSize} has no effect without --quantize. Give both or neither.`,
    );
  }
  const quantization: Quantization = { bits: 4, blockSize: quantizeBlockSize ?? 64 };
  return { ...same, adapters, quantize: quantize ? quantization : undefined };
}
