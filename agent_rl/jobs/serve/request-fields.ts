import { Ajv, type ErrorObject } from 'ajv';
import { type Static, type TSchema, Type } from 'typebox';

import { Refusal } from '../../http/refusal.ts';
import type { SamplingRequest } from './served-model.ts';

export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const mostAnswers = 16;
const mostStops = 16;

/** What both kinds of requests hold. Other keys are left alone, as clients send many that change nothing here. */
export const samplingFields = {
  model: nullable(Type.String()),
  max_tokens: nullable(Type.Integer({ minimum: 1 })),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  top_k: nullable(Type.Integer({ minimum: -1 })),
  min_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  n: nullable(Type.Integer({ minimum: 1, maximum: mostAnswers })),
  seed: nullable(Type.Integer()),
  stop: nullable(
    Type.Union([
      Type.String({ minLength: 1 }),
      Type.Array(Type.String({ minLength: 1 }), { maxItems: mostStops }),
    ]),
  ),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(Type.Object({ include_usage: nullable(Type.Boolean()) })),
  return_token_ids: nullable(Type.Boolean()),
};

/** What would change an answer and is not done here: anything but these values is refused. */
const unsupported: Readonly<Record<string, readonly unknown[]>> = {
  frequency_penalty: [0],
  presence_penalty: [0],
  repetition_penalty: [1],
  logit_bias: [],
  response_format: [{ type: 'text' }],
  tool_choice: ['auto', 'none'],
  top_logprobs: [0],
  best_of: [1],
  echo: [false],
  suffix: [''],
  prompt_logprobs: [],
  min_tokens: [0],
  ignore_eos: [false],
  stop_token_ids: [[]],
  include_stop_str_in_output: [false],
  skip_special_tokens: [true],
  bad_words: [[]],
  allowed_token_ids: [],
  use_beam_search: [false],
};

export type SamplingFields = Static<ReturnType<typeof samplingObject>>;
const samplingObject = () => Type.Object(samplingFields);

const ajv = new Ajv({ allErrors: true, strict: false, code: { optimize: false } });

/** Reads the body of a request. */
export function bodyReader<Schema extends TSchema>(schema: Schema) {
  // Through JSON: ajv must not meet the markers that TypeBox hides in a schema.
  const plain = JSON.parse(JSON.stringify(schema)) as object;
  const validate = ajv.compile<Static<Schema>>(plain);
  const known = new Set(Object.keys((plain as { properties?: object }).properties ?? {}));
  return (body: unknown): Static<Schema> => {
    if (!validate(body)) throw wrongBody(validate.errors ?? []);
    refuseUnsupported(body, known);
    return body;
  };
}

function wrongBody(errors: readonly ErrorObject[]): Refusal {
  // Of a value that may be null, what is wrong with it as a value.
  const first = errors.find(
    ({ keyword, params }) => keyword !== 'anyOf' && (params as { type?: unknown }).type !== 'null',
  );
  const { instancePath = '', message = 'is wrong', params = {} } = first ?? {};
  const missing = (params as { missingProperty?: string }).missingProperty;
  const path = [...instancePath.split('/').slice(1), ...(missing === undefined ? [] : [missing])];
  const place = path.length === 0 ? 'The body' : path.join('.');
  const text = missing === undefined ? `${place}: ${message}.` : `${place} is missing.`;
  return new Refusal(400, text, [{ path, message }], 'invalid_value');
}

function refuseUnsupported(body: object, known: ReadonlySet<string>): void {
  for (const [name, allowed] of Object.entries(unsupported)) {
    if (known.has(name)) continue;
    const value = (body as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || value === null) continue;
    const text = JSON.stringify(value);
    if (allowed.some((one) => JSON.stringify(one) === text)) continue;
    throw new Refusal(
      400,
      `${name}: ${text.slice(0, 80)} is not supported by this server. Leave it out.`,
      [{ path: [name], message: 'not supported' }],
      'unsupported_parameter',
    );
  }
}

/** How a request wants its answers sampled. */
export function samplingOf(
  fields: SamplingFields,
  {
    signal,
    maxTokens,
    seed,
  }: { signal: AbortSignal; maxTokens?: number | undefined; seed: number },
): SamplingRequest {
  const { temperature, top_p: topP, top_k: topK, min_p: minP, stop } = fields;
  return {
    sampling: {
      temperature: temperature ?? 1,
      topP: topP ?? 1,
      topK: Math.max(0, topK ?? 0),
      minP: minP ?? 0,
    },
    maxTokens: fields.max_tokens ?? maxTokens,
    seed: fields.seed ?? seed,
    stop: [stop ?? []].flat(),
    signal,
  };
}
