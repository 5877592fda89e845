import type { Tokenizer } from '../../../model/text/tokenizer.ts';
import type { AssistantMessage } from '../../core/message.ts';
import type { Sampled, Turn } from './served-model.ts';

/** What is said of every answer to a request. */
export interface AnswerHead {
  id: string;
  created: number;
  model: string;
}

export const usageOf = (answers: readonly Sampled[]): object => {
  const prompt = answers[0]?.promptTokens.length ?? 0;
  const completion = answers.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
};

/** Log-probabilities as chat completions have them, a token each. */
export const chatLogProbs = ({ tokens, logProbs }: Sampled, tokenizer: Tokenizer): object => ({
  content: tokens.map((id, place) => {
    const token = tokenizer.decode([id]);
    return {
      token,
      logprob: logProbs[place] ?? 0,
      bytes: [...Buffer.from(token)],
      top_logprobs: [],
    };
  }),
});

/** The same as completions have them. */
export function completionLogProbs({ tokens, logProbs }: Sampled, tokenizer: Tokenizer): object {
  const texts = tokens.map((id) => tokenizer.decode([id]));
  let offset = 0;
  return {
    tokens: texts,
    token_logprobs: logProbs,
    top_logprobs: null,
    text_offset: texts.map((text) => (offset += text.length) - text.length),
  };
}

export const toolCallsOf = ({ toolCalls = [] }: AssistantMessage): object[] =>
  toolCalls.map(({ id, name, arguments: given, written }) => ({
    id,
    type: 'function',
    function: { name, arguments: written ?? JSON.stringify(given) },
  }));

/** A turn as a message. A call that could not be read is part of what was said. */
export function messageOf({ message }: Turn): object {
  const calls = toolCallsOf(message);
  return {
    role: 'assistant',
    content: calls.length > 0 && message.content === '' ? null : saidIn(message),
    ...(message.reasoning !== undefined && { reasoning_content: message.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

export const saidIn = ({ content, malformedCalls = [] }: AssistantMessage): string =>
  [content, ...malformedCalls.map(({ text }) => text)].filter((text) => text !== '').join('\n');

export const finishOf = ({ message, finish }: Turn): string =>
  finish === 'stop' && (message.toolCalls ?? []).length > 0 ? 'tool_calls' : finish;
