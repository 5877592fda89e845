import { Ajv, type ErrorObject } from 'ajv';

import { type Static, type TSchema, Type } from '../../core/typebox.ts';
import { isRecord } from '../../core/is-record.ts';
import { Refusal, wrongField } from '../../http/refusal.ts';
import type { SamplingRequest } from '../sampling/served-model.ts';

export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const mostAnswers = 16;
const mostStops = 16;

/** Fields of all kinds of requests. */
export const samplingFields = {
  model: nullable(Type.String()),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  top_k: nullable(Type.Integer({ minimum: -1 })),
  min_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  seed: nullable(Type.Integer()),
  stop: nullable(
    Type.Union([
      Type.String({ minLength: 1 }),
      Type.Array(Type.String({ minLength: 1 }), { maxItems: mostStops }),
    ]),
  ),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(
    Type.Object(
      {
        include_usage: nullable(Type.Boolean()),
        // Padding, which is never sent.
        include_obfuscation: nullable(Type.Boolean()),
      },
      { additionalProperties: false },
    ),
  ),
};

/** Fields of requests for completions, chat or not. */
export const completionFields = {
  ...samplingFields,
  max_tokens: nullable(Type.Integer({ minimum: 1 })),
  n: nullable(Type.Integer({ minimum: 1, maximum: mostAnswers })),
  return_token_ids: nullable(Type.Boolean()),
  return_tokens_as_token_ids: nullable(Type.Boolean()),
};

/** How tokens are drawn: in a rollout, as the run says. */
export const drawFields = ['temperature', 'top_p', 'top_k', 'min_p', 'seed'] as const;

/** Fields that are taken and change no answer: who asks, where answers are kept, and how fast they come. */
const withoutEffect: ReadonlySet<string> = new Set([
  'metadata',
  'prediction',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'store',
  'user',
]);

/** Values of fields that are not supported: with them a request asks for what is done anyway. */
export type OnlyAs = Readonly<Record<string, readonly unknown[]>>;

/** Of both kinds of requests; some are vLLM's. Whatever is named nowhere is refused. */
const onlyAs: OnlyAs = {
  frequency_penalty: [0],
  presence_penalty: [0],
  repetition_penalty: [1],
  length_penalty: [1],
  logit_bias: [{}],
  echo: [false],
  best_of: [1],
  suffix: [''],
  min_tokens: [0],
  ignore_eos: [false],
  stop_token_ids: [[]],
  include_stop_str_in_output: [false],
  skip_special_tokens: [true],
  bad_words: [[]],
  use_beam_search: [false],
};

export type SamplingFields = Static<ReturnType<typeof samplingObject>>;
const samplingObject = () => Type.Object(completionFields);

const ajv = new Ajv({ allErrors: true, strict: false, code: { optimize: false } });

/**
 * Reads the body of a request.
 *
 * @param also what more is not supported, but for some values
 * @returns the body, without the fields that `ignore` received
 */
export function bodyReader<Schema extends TSchema>(schema: Schema, also: OnlyAs = {}) {
  // Through JSON: ajv must not meet the markers that TypeBox hides in a schema.
  const plain = JSON.parse(JSON.stringify(schema)) as { properties?: object };
  const validate = ajv.compile<Static<Schema>>(plain);
  const supported = new Set(Object.keys(plain.properties ?? {}));
  return (given: unknown, ignore?: (field: string) => void): Static<Schema> => {
    const body: unknown = isRecord(given) ? { ...given } : given;
    for (const [name, value] of Object.entries(isRecord(body) ? body : {})) {
      if (value === null) continue;
      refuseDeep(name, value);
      const allowed =
        ownOf(also, name) ?? (supported.has(name) ? undefined : (ownOf(onlyAs, name) ?? []));
      if (allowed === undefined || withoutEffect.has(name) || isOneOf(value, allowed)) continue;
      if (ignore === undefined) throw unsupported(name, value, allowed);
      ignore(name);
      delete (body as Record<string, unknown>)[name];
    }
    if (!validate(body)) throw wrongBody(validate.errors ?? []);
    return body;
  };
}

/** A body may name a field as `Object.prototype` names its own. */
const ownOf = (table: OnlyAs, name: string): readonly unknown[] | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

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

const isOneOf = (value: unknown, allowed: readonly unknown[]): boolean =>
  allowed.some((one) => JSON.stringify(one) === JSON.stringify(value));

function unsupported(name: string, value: unknown, allowed: readonly unknown[]): Refusal {
  const taken = allowed.map((one) => JSON.stringify(one));
  const instead = taken.length === 0 ? '' : `, or use ${taken.join(' or ')}`;
  return wrongField(
    name,
    'not supported',
    `${name}: ${JSON.stringify(value).slice(0, 80)} is not supported by this server. Remove it${instead}, or have the server ignore it (agent-rl serve --unsupported ignore, or gateway.unsupported in training).`,
    'unsupported_parameter',
  );
}

/** Lists and objects in each other, as code may follow them by recursion. */
const mostDepth = 500;

/** @throws Refusal */
function refuseDeep(name: string, value: unknown): void {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostDepth)
      throw wrongField(name, 'nested too deep', `${name}: is nested more than ${mostDepth} deep.`);
    level = level.flatMap((one): unknown[] =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
  }
}

/** Which answers a request wants. @throws Refusal for a stream of several */
export function placesOf({ n, stream }: Pick<SamplingFields, 'n' | 'stream'>): number[] {
  if (stream === true && (n ?? 1) > 1)
    throw new Refusal(
      400,
      'n: a stream has only one answer. Send one request for each answer.',
      [],
      'invalid_value',
    );
  return [...Array(n ?? 1).keys()];
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
