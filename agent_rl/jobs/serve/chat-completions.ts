import { Type } from 'typebox';

import { messagesReader } from '../../../dataset/demonstrations/conversations.ts';
import { toolDefinitions } from '../../../dataset/demonstrations/tool-definitions.ts';
import { isRecord } from '../../core/is-record.ts';
import type { Message } from '../../core/message.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import { EventAnswer } from '../../http/answer-request.ts';
import { Refusal } from '../../http/refusal.ts';
import { bodyReader, samplingFields, samplingOf } from './request-fields.ts';
import {
  type AnswerHead,
  chatLogProbs,
  finishOf,
  messageOf,
  saidIn,
  toolCallsOf,
  usageOf,
} from './openai-answers.ts';
import { piecesOf } from './pieces-of.ts';
import type { ServedModel, Turn } from './served-model.ts';

const ChatRequest = Type.Object({
  ...samplingFields,
  messages: Type.Array(Type.Object({ role: Type.String() }), { minItems: 1 }),
  tools: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Null()])),
  tool_choice: Type.Optional(Type.Unknown()),
  max_completion_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
  logprobs: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
});
const readBody = bodyReader(ChatRequest);

/** Answers `POST /v1/chat/completions`. @throws Refusal */
export async function chatCompletion(
  given: unknown,
  {
    model,
    head,
    signal,
    seed,
  }: { model: ServedModel; head: AnswerHead; signal: AbortSignal; seed: number },
): Promise<object | EventAnswer> {
  const body = readBody(given);
  const tools = body.tool_choice === 'none' ? [] : toolsOf(body.tools ?? []);
  const conversation = { messages: messagesOf(body.messages), tools };
  model.refuseEndless(conversation.messages.flatMap(shownText));
  const maxTokens = body.max_completion_tokens ?? undefined;
  const request = samplingOf(body, { signal, maxTokens, seed });
  const places = [...Array(body.n ?? 1).keys()];
  const withLogProbs = body.logprobs === true;
  const { tokenizer } = model.text;
  const endOf = (turn: Turn, index: number) => ({
    index,
    finish_reason: finishOf(turn),
    logprobs: withLogProbs ? chatLogProbs(turn, tokenizer) : null,
    ...(body.return_token_ids === true && { token_ids: turn.tokens }),
  });
  if (body.stream !== true) {
    const turns = await Promise.all(
      places.map((index) => model.turn(conversation, request, { index })),
    );
    return {
      ...head,
      object: 'chat.completion',
      choices: turns.map((turn, index) => ({ message: messageOf(turn), ...endOf(turn, index) })),
      usage: usageOf(turns),
      ...(body.return_token_ids === true && { prompt_token_ids: turns[0]?.promptTokens }),
    };
  }
  if (places.length > 1)
    throw new Refusal(400, 'n: a stream has one answer. Ask once for each.', [], 'invalid_value');
  const chunk = (choice: object): string =>
    JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [choice] });
  return new EventAnswer(
    (async function* events() {
      yield chunk({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null });
      const pieces = piecesOf<Turn>(
        (onText) =>
          model.turn(conversation, request, {
            index: 0,
            onText: (text) => onText(saidIn(model.read(text, tools))),
          }),
        // From there on it may become a call, or a thought, and is sent when the turn is whole.
        {
          holdFrom: tools.length > 0 ? /[<{[`]/ : /</,
          wholeText: ({ message }) => saidIn(message),
        },
      );
      for await (const piece of pieces.texts)
        yield chunk({ index: 0, delta: { content: piece }, finish_reason: null });
      const turn = await pieces.result;
      const calls = toolCallsOf(turn.message).map((call, index) => Object.assign(call, { index }));
      const { reasoning } = turn.message;
      const delta = {
        ...(reasoning !== undefined && { reasoning_content: reasoning }),
        ...(calls.length > 0 && { tool_calls: calls }),
      };
      if (Object.keys(delta).length > 0) yield chunk({ index: 0, delta, finish_reason: null });
      yield chunk({ delta: {}, ...endOf(turn, 0) });
      if (body.stream_options?.include_usage === true)
        yield JSON.stringify({
          ...head,
          object: 'chat.completion.chunk',
          choices: [],
          usage: usageOf([turn]),
        });
      yield '[DONE]';
    })(),
  );
}

/** What a template shows of a message whatever it is; of a turn of the assistant it may leave out thoughts. */
const shownText = ({ role, content }: Message): readonly string[] =>
  role === 'assistant' ? [] : [content];

function toolsOf(given: readonly unknown[]): readonly ToolSpec[] {
  const problems: string[] = [];
  const tools = toolDefinitions(given.map(wholeTool), (path, text) =>
    problems.push(`${path}: ${text}`),
  );
  if (problems.length > 0 || tools === undefined)
    throw new Refusal(
      400,
      problems.join(' '),
      [{ path: ['tools'], message: 'wrong' }],
      'invalid_value',
    );
  return tools;
}

/** A tool may leave out what it does and what it takes. */
function wholeTool(tool: unknown): unknown {
  const described = isRecord(tool) ? tool['function'] : undefined;
  if (!isRecord(tool) || !isRecord(described)) return tool;
  const { description = '', parameters = { type: 'object', properties: {} } } = described;
  return { ...tool, function: { ...described, description, parameters } };
}

function messagesOf(given: readonly unknown[]) {
  const problems: string[] = [];
  const messages = messagesReader()(given.map(plainMessage), (path, text) =>
    problems.push(`${path}: ${text}`),
  );
  if (messages === undefined)
    throw new Refusal(
      400,
      problems.slice(0, 5).join(' '),
      [{ path: ['messages'], message: 'wrong' }],
      'invalid_value',
    );
  return messages;
}

/** Contents in parts become one text, and `developer` is what `system` is now called. */
function plainMessage(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const { role, content, name, refusal: _, ...rest } = message;
  return {
    ...rest,
    role: role === 'developer' ? 'system' : role,
    // Of a person it means nothing to a template; of a tool's answer it is the tool.
    ...(role === 'tool' && name !== undefined && { name }),
    ...(content !== undefined && { content: Array.isArray(content) ? textOf(content) : content }),
  };
}

function textOf(parts: readonly unknown[]): string {
  const texts = parts.map((part) => {
    if (isRecord(part) && part['type'] === 'text' && typeof part['text'] === 'string')
      return part['text'];
    throw new Refusal(
      400,
      'messages: a part of a content is not text, and this model reads nothing else.',
      [{ path: ['messages'], message: 'not text' }],
      'unsupported_content',
    );
  });
  return texts.join('');
}
