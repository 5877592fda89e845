import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { byteCount, modelParts } from '../../agent_rl/engine/onnx/model-parts.ts';
import { outputUnwritable, writeFolderAtomic } from '../../agent_rl/telemetry/atomic-write.ts';
import { JsonFields } from '../config/json-fields.ts';
import type { ParameterSpec } from '../config/parameters.ts';
import { readJson } from '../config/read-json.ts';
import { copyLanguageModelFiles } from '../text/language-model.ts';
import { closeWeights, openWeights, type Weights } from '../weights/open-weights.ts';
import { requireFinite } from '../weights/read-values.ts';
import { writeAside } from '../weights/safetensors.ts';
import { encoderSpecs, readEncoderConfig } from './encoder-config.ts';
import { encoderGraph } from './encoder-graph.ts';
import { readPooling, type Pooling } from './sentence-pooling.ts';
import { refuseIfTaken, writeJson } from './export-onnx.ts';

export interface ExportedEncoder {
  parameters: number;
  /** Size of the `.onnx` file. */
  bytes: number;
  /** Most tokens of a text, the two that frame it included; the rest of a longer one is not read. */
  maxTokens: number;
  /** How token vectors become one; absent where the folder does not say. */
  pooling?: Pooling | undefined;
}

/**
 * Writes an embedding model (BERT, as Transformers or Sentence Transformers save it) as a folder that `dense: {type: transformers}`
 * opens: config.json, the tokenizer and `onnx/model.onnx` in float32. The folder appears whole or not at all.
 *
 * Texts end where Sentence Transformers end them: at `max_seq_length`.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE` when `to` exists and is not empty, or cannot be written; `MODEL_INVALID`,
 *   `TOKENIZER_INVALID`; `INTERRUPTED` when the signal is aborted
 */
export async function exportEncoder(
  from: string,
  to: string,
  signal?: AbortSignal,
): Promise<ExportedEncoder> {
  await refuseIfTaken(to);
  const configFile = path.join(from, 'config.json');
  const json = await readJson(configFile, 'MODEL_INVALID');
  const config = readEncoderConfig(json, configFile);
  const pooling = await readPooling(from);
  const tokenizer = await tokenizerConfig(from, config.maxPositions);
  const parameters = await readParameters(from, encoderSpecs(config));
  const { model } = modelParts(encoderGraph(config, parameters));
  const write = async (folder: string): Promise<void> => {
    await mkdir(path.join(folder, 'onnx'));
    await writeAside(path.join(folder, 'onnx', 'model.onnx'), model);
    await copyLanguageModelFiles(from, folder);
    await writeJson(path.join(folder, 'tokenizer_config.json'), tokenizer);
    await writeJson(path.join(folder, 'config.json'), json as object);
    if (signal?.aborted === true)
      throw new AgentRlError('INTERRUPTED', 'Stopped before the model was written.');
  };
  try {
    await writeFolderAtomic(to, write);
  } catch (cause) {
    throw AgentRlError.is(cause) ? cause : outputUnwritable(to, cause);
  }
  return {
    parameters: [...parameters.values()].reduce((sum, { length }) => sum + length, 0),
    bytes: byteCount(model),
    maxTokens: tokenizer.model_max_length,
    pooling,
  };
}

/** What the folder's own says, with the length that texts are cut at. */
async function tokenizerConfig(from: string, positions: number) {
  const file = path.join(from, 'tokenizer_config.json');
  for (const needed of [file, path.join(from, 'tokenizer.json')]) {
    if (!existsSync(needed))
      throw new AgentRlError('TOKENIZER_INVALID', `${needed} does not exist.`);
  }
  const json = await readJson(file, 'TOKENIZER_INVALID');
  const sentence = path.join(from, 'sentence_bert_config.json');
  const own = existsSync(sentence) ? await readJson(sentence, 'MODEL_INVALID') : {};
  const fields = new JsonFields(isRecord(own) ? own : {});
  const most = fields.count('max_seq_length', positions);
  for (const problem of fields.problems)
    throw new AgentRlError('MODEL_INVALID', `${sentence}: ${problem}`);
  return { ...(isRecord(json) ? json : {}), model_max_length: Math.min(most, positions) };
}

/** Float32 values of an encoder, whose names may begin with `bert.`; what is beyond it, as its pooler, is left out. */
async function readParameters(
  folder: string,
  specs: readonly ParameterSpec[],
): Promise<Map<string, Float32Array>> {
  const weights = await openWeights(folder);
  try {
    const stored = (name: string) =>
      weights.tensors.get(name) ?? weights.tensors.get(`bert.${name}`);
    const problems = specs.flatMap((spec) => problemOf(spec, stored(spec.name)));
    if (problems.length > 0) {
      throw new AgentRlError(
        'MODEL_INVALID',
        `The weights in ${folder} do not fit its config.json:\n- ${problems.join('\n- ')}`,
      );
    }
    const parameters = new Map<string, Float32Array>();
    for (const { name } of specs) {
      const { file, entry } = stored(name)!;
      const values = await file.readFloats(entry);
      requireFinite(folder, name, values);
      parameters.set(name, values);
    }
    return parameters;
  } finally {
    await closeWeights(weights);
  }
}

type Stored = ReturnType<Weights['tensors']['get']>;

function problemOf({ name, shape }: ParameterSpec, stored: Stored): string[] {
  const expected = `expected [${shape.join(', ')}]`;
  if (stored === undefined) return [`"${name}" is missing; ${expected}.`];
  const found = stored.entry.shape.join(', ');
  return found === shape.join(', ') ? [] : [`"${name}" is [${found}]; ${expected}.`];
}
