import { answerCall } from '#agent_rl/gateway/doors/answer-call.ts';
import { fetchDoor } from '#agent_rl/gateway/doors/fetch-door.ts';
import type { Session } from '#agent_rl/gateway/turns/session.ts';

/** A message as clients of the API have it. */
export type ChatMessage = Readonly<Record<string, unknown>> & { readonly role: string };

interface Said {
  role: 'assistant';
  content: string | null;
  reasoning_content?: string;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
}

export interface ChatAnswer {
  status: number;
  id: string;
  choices: { finish_reason: string; message: Said; token_ids?: number[] }[];
  prompt_token_ids?: number[];
  error?: { code: string; message: string };
}

export interface Asking {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export const path = 'http://model/v1/chat/completions';

export const post = (body: object, { headers = {}, signal }: Asking = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
  signal: signal ?? null,
});

/** Asks as an agent does, by `fetch`. */
export const askBy =
  (fetch: typeof globalThis.fetch) =>
  async (body: object, asking?: Asking): Promise<ChatAnswer> => {
    const response = await fetch(path, post(body, asking));
    return { status: response.status, ...((await response.json()) as Omit<ChatAnswer, 'status'>) };
  };

export const doorTo = (session: Session): typeof fetch =>
  fetchDoor((call) => answerCall(call, session, { unsupported: 'ignore' }));

export const user = (content: string): ChatMessage => ({ role: 'user', content });

/** What an answer says, as clients push it to their messages. */
export const said = ({ choices }: ChatAnswer, choice = 0): ChatMessage => ({
  ...choices[choice]!.message,
});

/** What a tool answers to the first call of a turn. */
export const result = ({ choices }: ChatAnswer, content: string): ChatMessage => ({
  role: 'tool',
  tool_call_id: choices[0]?.message.tool_calls?.[0]?.id,
  content,
});

export const tool = (name: string) => ({
  type: 'function',
  function: {
    name,
    description: `Does ${name}.`,
    parameters: { type: 'object', properties: { query: { type: 'string' } } },
  },
});

/** A turn with a call, as the model writes it behind a cue that opens its thought. */
export const calling = (name: string, query: string, thought = ''): string =>
  `${thought}</think><tool_call>\n${JSON.stringify({ name, arguments: { query } })}\n</tool_call>`;
