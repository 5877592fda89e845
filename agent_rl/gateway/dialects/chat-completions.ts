import { Type } from '../../core/typebox.ts';
import { EventAnswer, WholeAnswer } from '../../http/answer-request.ts';
import { wrongField } from '../../http/refusal.ts';
import { askedMessages, toolsOf } from './chat-messages.ts';
import { bodyReader, completionFields, nullable, placesOf, samplingOf } from './request-fields.ts';
import {
  type Answering,
  chatLogProbs,
  finishOf,
  messageOf,
  toolCallsOf,
  usageOf,
} from './openai-answers.ts';
import { preparedFor, turnPieces } from './prepared-turn.ts';
import type { Turn } from '../sampling/served-model.ts';

const ChatRequest = Type.Object({
  ...completionFields,
  messages: Type.Array(Type.Object({ role: Type.String() }), { minItems: 1 }),
  tools: nullable(Type.Array(Type.Unknown())),
  tool_choice: nullable(Type.String()),
  max_completion_tokens: nullable(Type.Integer({ minimum: 1 })),
  logprobs: nullable(Type.Boolean()),
});
const readBody = bodyReader(ChatRequest, {
  tool_choice: ['auto', 'none'],
  parallel_tool_calls: [true],
  functions: [[]],
  function_call: ['auto', 'none'],
  response_format: [{ type: 'text' }],
  modalities: [['text']],
  verbosity: ['medium'],
  top_logprobs: [0],
  // Of vLLM.
  add_generation_prompt: [true],
  continue_final_message: [false],
  chat_template_kwargs: [{}],
});

/** Answers `POST /v1/chat/completions`. @throws Refusal */
export async function chatCompletion(
  given: unknown,
  { session, head: shared, ...asking }: Answering,
): Promise<WholeAnswer | EventAnswer> {
  const body = readBody(given, asking.ignore);
  const places = placesOf(body);
  const { max_tokens: older, max_completion_tokens: maxTokens } = body;
  if (typeof older === 'number' && typeof maxTokens === 'number' && older !== maxTokens)
    throw wrongField(
      'max_tokens',
      'given twice',
      `max_tokens is ${older} and max_completion_tokens is ${maxTokens}. Send only one of them.`,
    );
  const tools = toolsOf(body.tool_choice === 'none' ? [] : (body.tools ?? []), session);
  const conversation = { messages: askedMessages(body.messages), tools };
  const { model } = session;
  const request = samplingOf(body, { ...asking, maxTokens: maxTokens ?? undefined });
  const asked = { conversation, request, answers: places.length };
  const prepared = await preparedFor(given, asked, { session, retried: asking.retried });
  const head = { id: `chatcmpl-${prepared.id}`, ...shared };
  const withIds = body.return_token_ids === true;
  const promptIds = { prompt_token_ids: withIds ? prepared.promptTokens() : undefined };
  const asIds = body.return_tokens_as_token_ids === true;
  const endOf = (turn: Turn, index: number) => ({
    index,
    finish_reason: finishOf(turn),
    logprobs: body.logprobs === true ? chatLogProbs(turn, model.text.tokenizer, asIds) : null,
    token_ids: withIds ? turn.tokens : undefined,
  });
  if (body.stream !== true) {
    const turns = await prepared.sample();
    const answer = {
      ...head,
      object: 'chat.completion',
      choices: turns.map((turn, index) => ({ message: messageOf(turn), ...endOf(turn, index) })),
      usage: usageOf(turns),
      ...promptIds,
    };
    return new WholeAnswer(answer, prepared.sent);
  }
  const chunk = (choice: object, also: object = {}): string =>
    JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [choice], ...also });
  return new EventAnswer(
    (async function* events() {
      const delta = { role: 'assistant', content: '' };
      yield chunk({ index: 0, delta, finish_reason: null }, promptIds);
      const pieces = turnPieces(prepared, session, conversation);
      for await (const piece of pieces.texts)
        yield chunk({ index: 0, delta: piece, finish_reason: null });
      const turn = await pieces.result;
      const calls = toolCallsOf(turn.message).map((call, index) => Object.assign(call, { index }));
      if (calls.length > 0)
        yield chunk({ index: 0, delta: { tool_calls: calls }, finish_reason: null });
      yield chunk({ delta: {}, ...endOf(turn, 0) });
      if (body.stream_options?.include_usage === true)
        yield JSON.stringify({
          ...head,
          object: 'chat.completion.chunk',
          choices: [],
          usage: usageOf([turn]),
        });
      // A client that has its answer may end before it reads the last event.
      prepared.sent();
      yield '[DONE]';
    })(),
  );
}
