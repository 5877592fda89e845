import type { Tokenizer } from '../../../model/text/tokenizer.ts';
import type { AssistantMessage } from '../../core/message.ts';
import type { Sampled, Turn } from '../sampling/served-model.ts';
import { argumentsText, saidIn } from '../turns/asked.ts';
import type { Session } from '../turns/session.ts';
import type { Refusal } from '../../http/refusal.ts';

/** The settings with which a request is answered. */
export interface Answering {
  session: Session;
  /** Said of every answer. */
  head: { created: number; model: string };
  signal: AbortSignal;
  /** Of the draws of one that names no seed. */
  seed: number;
  /** The client says that it asks again. */
  retried: boolean;
  /** Receives each field that is not supported; without it such a request is refused. */
  ignore: ((field: string) => void) | undefined;
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

/** A token's text, which may be a part of a character, or its id as vLLM writes it. */
const shownToken = (id: number, tokenizer: Tokenizer, asIds: boolean): string =>
  asIds ? `token_id:${id}` : tokenizer.decode([id]);

/** Log-probabilities as chat completions have them, a token each. */
export const chatLogProbs = (
  { tokens, logProbs }: Sampled,
  tokenizer: Tokenizer,
  asIds: boolean,
): object => ({
  content: tokens.map((id, place) => ({
    token: shownToken(id, tokenizer, asIds),
    logprob: logProbs[place] ?? 0,
    bytes: tokenizer.bytesOf(id) ?? null,
    top_logprobs: [],
  })),
});

/** The same as completions have them. */
export function completionLogProbs(
  { tokens, logProbs }: Sampled,
  tokenizer: Tokenizer,
  asIds: boolean,
): object {
  return {
    tokens: tokens.map((id) => shownToken(id, tokenizer, asIds)),
    token_logprobs: logProbs,
    top_logprobs: null,
    text_offset: textOffsets(tokens, tokenizer),
  };
}

/** Characters before the one that each token begins in: Python's characters, as the API counts them. */
function textOffsets(tokens: readonly number[], tokenizer: Tokenizer): readonly number[] {
  const decoder = new TextDecoder();
  let characters = 0;
  const count = (text: string): number => (characters += Array.from(text).length);
  return tokens.map((id) => {
    const bytes = Uint8Array.from(tokenizer.bytesOf(id) ?? Buffer.from(tokenizer.decode([id])));
    // A character that was begun ends here, unless this token continues it.
    if (((bytes[0] ?? 0) & 0xc0) !== 0x80) count(decoder.decode());
    const before = characters;
    count(decoder.decode(bytes, { stream: true }));
    return before;
  });
}

export const toolCallsOf = ({ toolCalls = [] }: AssistantMessage): object[] =>
  toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: argumentsText(call) },
  }));

/** A turn as a message. A call that could not be read is part of what was said. */
export function messageOf({ message }: Turn): object {
  const calls = toolCallsOf(message);
  const said = saidIn(message);
  return {
    role: 'assistant',
    content: calls.length > 0 && said === '' ? null : said,
    reasoning_content: message.reasoning,
    tool_calls: calls.length > 0 ? calls : undefined,
  };
}

export const finishOf = ({ message, finish }: Turn): string =>
  finish === 'stop' && (message.toolCalls ?? []).length > 0 ? 'tool_calls' : finish;

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  404: 'not_found_error',
  503: 'overloaded_error',
};

/** A refusal as the OpenAI API writes it. */
export const openAiError = ({ status, message, problems, code }: Refusal): object => ({
  error: {
    message,
    type: types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
    param: problems[0]?.path.join('.') ?? null,
    code: code ?? null,
  },
});
