import { openModel, type ModelRequest, type OpenedModel } from './open-model.ts';
import { requireFloats, scaleName, unquantized } from '../config/parameters.ts';
import { dequantizedTensor } from './quantize-weights.ts';

export interface FloatModel extends OpenedModel {
  parameters: Map<string, Float32Array>;
  /** The weights were stored in four bits: these are the floats those stand for. */
  dequantized: boolean;
}

/** Loads a model and its adapters as floats, four-bit weights one after the other. @throws AgentRlError `MODEL_INVALID` */
export async function openFloatModel(request: ModelRequest): Promise<FloatModel> {
  const { config, parameters, layers } = await openModel(request);
  const dequantized = config.quantization !== undefined;
  for (const [name, values] of parameters) {
    if (!(values instanceof Uint8Array)) continue;
    const floats = dequantizedTensor(parameters, name);
    parameters.delete(scaleName(name));
    if (floats !== undefined) parameters.set(name, floats);
  }
  return {
    config: dequantized ? unquantized(config) : config,
    parameters: requireFloats(parameters),
    layers,
    dequantized,
  };
}
