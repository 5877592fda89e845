import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { JsonFields } from '../config/json-fields.ts';
import type { ParameterSpec } from '../config/parameters.ts';

/** The sizes of a BERT encoder. */
export interface EncoderConfig {
  vocabSize: number;
  hiddenSize: number;
  layers: number;
  heads: number;
  intermediateSize: number;
  maxPositions: number;
  tokenTypes: number;
  normEps: number;
}

/** What a config.json that leaves them out means, and all that is exported. */
const usual: Readonly<Record<string, unknown>> = {
  hidden_act: 'gelu',
  position_embedding_type: 'absolute',
};

/**
 * Reads the config.json of an encoder, already parsed.
 *
 * @throws AgentRlError `MODEL_INVALID`, naming every problem at once
 */
export function readEncoderConfig(json: unknown, file: string): EncoderConfig {
  const raw = isRecord(json) ? json : {};
  const fields = new JsonFields(raw);
  const config = {
    vocabSize: fields.count('vocab_size'),
    hiddenSize: fields.count('hidden_size'),
    layers: fields.count('num_hidden_layers'),
    heads: fields.count('num_attention_heads'),
    intermediateSize: fields.count('intermediate_size'),
    maxPositions: fields.count('max_position_embeddings'),
    tokenTypes: fields.count('type_vocab_size'),
    normEps: fields.positive('layer_norm_eps', 1e-12),
  };
  const kind = { ...usual, ...raw };
  const problems = [
    ...Object.entries({ model_type: 'bert', ...usual }).flatMap(([name, expected]) =>
      kind[name] === expected
        ? []
        : [`${name} must be "${expected}"; got ${JSON.stringify(kind[name])}.`],
    ),
    ...fields.problems,
    ...(config.hiddenSize % config.heads === 0
      ? []
      : [`hidden_size ${config.hiddenSize} is not a multiple of ${config.heads} heads.`]),
  ];
  if (problems.length === 0) return config;
  throw new AgentRlError(
    'MODEL_INVALID',
    `${file} does not describe an encoder that can be exported:\n- ${problems.join('\n- ')}`,
  );
}

/** The tensors of an encoder without its pooler, by Hugging Face name. */
export function encoderSpecs(config: EncoderConfig): ParameterSpec[] {
  const { vocabSize, hiddenSize, layers, intermediateSize, maxPositions, tokenTypes } = config;
  const norm = (name: string): ParameterSpec[] =>
    ['weight', 'bias'].map((part) => ({ name: `${name}.${part}`, shape: [hiddenSize] }));
  const dense = (name: string, to = hiddenSize, from = hiddenSize): ParameterSpec[] => [
    { name: `${name}.weight`, shape: [to, from] },
    { name: `${name}.bias`, shape: [to] },
  ];
  const embeddings = { word: vocabSize, position: maxPositions, token_type: tokenTypes };
  return [
    ...Object.entries(embeddings).map(([kind, rows]) => ({
      name: `embeddings.${kind}_embeddings.weight`,
      shape: [rows, hiddenSize],
    })),
    ...norm('embeddings.LayerNorm'),
    ...Array.from({ length: layers }, (_, layer) => `encoder.layer.${layer}`).flatMap((name) =>
      [
        ['query', 'key', 'value'].flatMap((kind) => dense(`${name}.attention.self.${kind}`)),
        dense(`${name}.attention.output.dense`),
        norm(`${name}.attention.output.LayerNorm`),
        dense(`${name}.intermediate.dense`, intermediateSize),
        dense(`${name}.output.dense`, hiddenSize, intermediateSize),
        norm(`${name}.output.LayerNorm`),
      ].flat(),
    ),
  ];
}
