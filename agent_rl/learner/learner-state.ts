import { join } from 'node:path';

import { AgentRlError } from '../core/errors.ts';
import { trainedAdapter, trainedSpecs } from '../../model/adapters/adapter.ts';
import {
  readAdapterWeights,
  writeAdapter,
  type AdapterToWrite,
} from '../../model/adapters/adapter-files.ts';
import { loadModel, saveModel } from '../../model/weights/load-model.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { parameterSpecs, requireFloats } from '../../model/config/parameters.ts';
import {
  SafetensorsFile,
  writeSafetensors,
  type TensorToWrite,
} from '../../model/weights/safetensors.ts';
import type { AdamwState, Parameters } from './adamw/adamw-state.ts';

interface LearnerState {
  /** What is trained. */
  parameters: Parameters;
  optimizer: AdamwState;
  /** The adapter that is trained and what is under it; absent where the whole model is trained. */
  adapted: Omit<AdapterToWrite, 'parameters'> | undefined;
}

const optimizerFile = 'optimizer.safetensors';
const stepsTensor = 'steps';
const moments = ['m', 'v'] as const;

/**
 * Writes what is trained, the model as a Hugging Face folder or its adapter as PEFT's, and beside it the optimiser's
 * moments. Everything in float32: nothing is lost.
 */
export async function writeLearnerState(
  folder: string,
  config: ModelConfig,
  { parameters, optimizer, adapted }: LearnerState,
): Promise<void> {
  await writeTrained(folder, config, { parameters, adapted });
  const tensors = new Map<string, TensorToWrite>();
  for (const moment of moments) {
    for (const { name, shape } of trainedSpecs(config)) {
      tensors.set(`${moment}.${name}`, {
        shape,
        values: optimizer[moment].get(name) as Float32Array,
      });
    }
  }
  tensors.set(stepsTensor, { shape: [1], values: Float32Array.of(optimizer.steps) });
  await writeSafetensors(join(folder, optimizerFile), tensors);
}

/** Writes what is trained: the model as a Hugging Face folder, or its adapter as PEFT's. */
export const writeTrained = (
  folder: string,
  config: ModelConfig,
  { parameters, adapted }: Omit<LearnerState, 'optimizer'>,
): Promise<void> =>
  adapted === undefined
    ? saveModel(folder, { config, parameters: new Map(parameters), storedDtype: 'F32' })
    : writeAdapter(folder, config, { ...adapted, parameters });

/** What `writeTrained` wrote. @throws AgentRlError `CHECKPOINT_INVALID` when it is of another model */
export async function readTrained(folder: string, config: ModelConfig): Promise<Parameters> {
  const adapter = trainedAdapter(config);
  if (adapter !== undefined) return readAdapterWeights(folder, config, adapter);
  const stored = await loadModel(folder);
  if (JSON.stringify(parameterSpecs(stored.config)) !== JSON.stringify(parameterSpecs(config))) {
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `The checkpoint ${folder} belongs to a model with different tensors than the one being trained. Resume with the run's own model.`,
    );
  }
  return requireFloats(stored.parameters);
}

/** Reads what `writeLearnerState` wrote into the given arrays. @throws AgentRlError `CHECKPOINT_INVALID` when it is of another model. */
export async function readLearnerState(
  folder: string,
  config: ModelConfig,
  { parameters, optimizer }: Omit<LearnerState, 'adapted'>,
): Promise<void> {
  for (const [name, values] of await readTrained(folder, config)) parameters.get(name)?.set(values);
  const file = await SafetensorsFile.open(join(folder, optimizerFile));
  try {
    const entries = new Map(file.entries.map((entry) => [entry.name, entry]));
    const read = async (name: string, length: number): Promise<Float32Array> => {
      const entry = entries.get(name);
      const values = entry && (await file.readFloats(entry));
      if (values?.length === length) return values;
      throw new AgentRlError(
        'CHECKPOINT_INVALID',
        `${file.path} must contain a tensor "${name}" with ${length} values. Values found: ${values?.length ?? 'none, since there is no such tensor'}.`,
      );
    };
    for (const moment of moments) {
      for (const [name, values] of optimizer[moment])
        values.set(await read(`${moment}.${name}`, values.length));
    }
    optimizer.steps = (await read(stepsTensor, 1))[0] as number;
    optimizer.clearGradients();
  } finally {
    await file.close();
  }
}
