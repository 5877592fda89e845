import { randomUUID } from 'node:crypto';

import { Type } from '../../core/typebox.ts';
import { EventAnswer } from '../../http/answer-request.ts';
import { wrongField } from '../../http/refusal.ts';
import {
  type Answering,
  completionLogProbs,
  usageOf,
} from '../../gateway/dialects/openai-answers.ts';
import { piecesOf } from '../../gateway/sampling/pieces-of.ts';
import {
  bodyReader,
  completionFields,
  nullable,
  placesOf,
  samplingOf,
} from '../../gateway/dialects/request-fields.ts';
import type { Sampled, ServedModel } from '../../gateway/sampling/served-model.ts';

const mostStopTokens = 64;

const CompletionRequest = Type.Object({
  ...completionFields,
  prompt: Type.Union([
    Type.String({ minLength: 1 }),
    Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }),
  ]),
  logprobs: Type.Optional(
    Type.Union([Type.Boolean(), Type.Integer({ minimum: 0, maximum: 1 }), Type.Null()]),
  ),
  // As vLLM has them.
  stop_token_ids: nullable(Type.Array(Type.Integer({ minimum: 0 }), { maxItems: mostStopTokens })),
  ignore_eos: nullable(Type.Boolean()),
});
const readBody = bodyReader(CompletionRequest);

/** OpenAI's own default. */
const defaultMaxTokens = 16;

/** Answers `POST /v1/completions`: a text or tokens, continued as they are. @throws Refusal */
export async function completion(
  given: unknown,
  { session: { model }, head, signal, seed }: Answering,
): Promise<object | EventAnswer> {
  const body = readBody(given);
  const places = placesOf(body);
  const { tokenizer } = model.text;
  const prompt =
    typeof body.prompt === 'string' ? await model.encode(body.prompt, signal) : body.prompt;
  refuseUnknownTokens('prompt', prompt, model);
  refuseUnknownTokens('stop_token_ids', body.stop_token_ids ?? [], model);
  const request = samplingOf(body, { signal, maxTokens: defaultMaxTokens, seed });
  const room = model.room({ promptTokens: prompt.length, field: 'prompt' }, request.maxTokens);
  const ends = body.ignore_eos === true ? [] : model.text.stopTokens;
  const stopTokens = [...ends, ...(body.stop_token_ids ?? [])];
  const withIds = body.return_token_ids === true;
  const asIds = body.return_tokens_as_token_ids === true;
  const withLogProbs =
    body.logprobs !== undefined && body.logprobs !== null && body.logprobs !== false;
  const choiceOf = (sampled: Sampled, index: number) => ({
    index,
    finish_reason: sampled.finish,
    logprobs: withLogProbs ? completionLogProbs(sampled, tokenizer, asIds) : null,
    token_ids: withIds ? sampled.tokens : undefined,
    prompt_token_ids: withIds ? prompt : undefined,
  });
  const answer = { id: `cmpl-${randomUUID()}`, ...head, object: 'text_completion' };
  if (body.stream !== true) {
    const all = await Promise.all(
      places.map((index) => model.complete(prompt, request, { index, room, stopTokens })),
    );
    return {
      ...answer,
      choices: all.map((sampled, index) => ({ text: sampled.text, ...choiceOf(sampled, index) })),
      usage: usageOf(all),
    };
  }
  return new EventAnswer(
    (async function* events() {
      const pieces = piecesOf<Sampled>(
        (onText) => model.complete(prompt, request, { index: 0, room, stopTokens, onText }),
        { soFar: (text) => ({ text }), whole: ({ text }) => ({ text }) },
      );
      for await (const piece of pieces.texts)
        yield JSON.stringify({ ...answer, choices: [{ index: 0, ...piece, finish_reason: null }] });
      const sampled = await pieces.result;
      yield JSON.stringify({ ...answer, choices: [{ text: '', ...choiceOf(sampled, 0) }] });
      if (body.stream_options?.include_usage === true)
        yield JSON.stringify({ ...answer, choices: [], usage: usageOf([sampled]) });
      yield '[DONE]';
    })(),
  );
}

function refuseUnknownTokens(
  field: string,
  tokens: readonly number[],
  { vocabSize }: ServedModel,
): void {
  const wrong = tokens.find((id) => id >= vocabSize);
  if (wrong === undefined) return;
  throw wrongField(
    field,
    'no token',
    `${field}: ${wrong} is not a token id of this model, which has ${vocabSize} tokens.`,
  );
}
