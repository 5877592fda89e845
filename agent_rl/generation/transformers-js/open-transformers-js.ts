import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type * as Transformers from '@huggingface/transformers';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { GeneratorHost } from '../../core/plugins/model/generator.ts';
import { TransformersJsGenerator } from './transformers-js-generator.ts';

/** Which of a folder's ONNX files is run, as transformers.js names them: `onnx/model<suffix>.onnx`. */
const suffixes = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  q4: '_q4',
  q4f16: '_q4f16',
} as const;

export interface TransformersJsOptions extends Pick<
  GeneratorHost,
  'modelFolder' | 'device' | 'threads' | 'maxContextTokens'
> {
  dtype: keyof typeof suffixes;
}

/** The parts of the package that are used, so that tests can replace it. */
export type LoadTransformers = () => Promise<
  Pick<typeof Transformers, 'AutoModelForCausalLM' | 'Tensor'>
>;

/**
 * Opens an ONNX model folder with `@huggingface/transformers` in this thread. Nothing is downloaded.
 *
 * @throws AgentRlError `MODEL_INVALID` when the folder holds no such model, `CONFIG_INVALID` for a device the package
 *   does not know, `PLUGIN_LOAD_FAILED` when the package is not installed
 */
export async function openTransformersJs(
  options: TransformersJsOptions,
  loadPackage: LoadTransformers = () => import('@huggingface/transformers'),
): Promise<TransformersJsGenerator> {
  const { modelFolder, dtype, device, threads, maxContextTokens } = options;
  requireFile(modelFolder, dtype);
  requireDevice(device);
  const { AutoModelForCausalLM, Tensor } = await loadPackage().catch((cause: unknown) => {
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `Policy transformers-js needs the package @huggingface/transformers, which could not be loaded (${messageOf(cause)}). Run npm install @huggingface/transformers@4.3.1.`,
      { cause },
    );
  });
  try {
    const model = await AutoModelForCausalLM.from_pretrained(modelFolder, {
      dtype,
      device,
      local_files_only: true,
      session_options: { intraOpNumThreads: threads, interOpNumThreads: 1 },
    });
    return new TransformersJsGenerator(model, Tensor, maxContextTokens);
  } catch (cause) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `${modelFolder} cannot be opened by @huggingface/transformers on ${device}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

function requireFile(folder: string, dtype: TransformersJsOptions['dtype']): void {
  const file = `onnx/model${suffixes[dtype]}.onnx`;
  if (existsSync(join(folder, file))) return;
  throw new AgentRlError(
    'MODEL_INVALID',
    `${folder} has no ${file}, which policy.dtype ${dtype} needs. Create it with agent-rl model export --model ${folder} --output FOLDER and use FOLDER, or set policy.dtype to a precision that the folder has.`,
  );
}

type Device = 'cpu' | 'cuda' | 'webgpu';

function requireDevice(device: string): asserts device is Device {
  if (device === 'cpu' || device === 'cuda' || device === 'webgpu') return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `run.device ${JSON.stringify(device)} is not supported by policy transformers-js. Use cpu, cuda or webgpu.`,
  );
}
