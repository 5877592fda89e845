import { expect } from '@jest/globals';

import { serveModel } from '#agent_rl/jobs/serve/serve-model.ts';
import { servingOptions } from './serving.ts';

/** What a server of the starter answered. */
export interface Asked {
  status: number;
  text: string;
}

/** A completion, or one of a chat. */
export interface Answer {
  id: string;
  choices: {
    text: string;
    message: { content: string | null; reasoning_content?: string; tool_calls?: Call[] };
    finish_reason: string;
    token_ids: number[];
    logprobs: {
      tokens: string[];
      token_logprobs: number[];
      text_offset: number[];
      content: { token: string; logprob: number; bytes: number[] }[];
    };
  }[];
  usage: { prompt_tokens: number; completion_tokens: number };
  prompt_token_ids: number[];
}

export interface Call {
  id: string;
  function: { name: string; arguments: string };
}

export interface ServingClient {
  url: string;
  /** @param body a text is sent as it is */
  ask(path: string, body?: object | string, token?: string): Promise<Asked>;
  /** Fails unless the answer has status 200. */
  answered(path: string, body: object): Promise<Answer>;
  close(): Promise<void>;
}

/** The tool that the starter knows. */
export const codeTool = {
  type: 'function',
  function: {
    name: 'code_exec',
    parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
  },
};

/**
 * Serves the starter, and asks it.
 *
 * @param key what the server requires, in the variable `SERVED_KEY`
 */
export async function servingClient(key?: string): Promise<ServingClient> {
  const stop = new AbortController();
  if (key !== undefined) process.env['SERVED_KEY'] = key;
  const given = {
    ...(await servingOptions(stop.signal)),
    ...(key !== undefined && { apiKeyEnv: 'SERVED_KEY' }),
  };
  let served: Promise<unknown> = Promise.resolve();
  const url = await new Promise<string>((resolve, reject) => {
    served = serveModel({ ...given, onListening: resolve });
    served.catch(reject);
  });
  const ask: ServingClient['ask'] = async (path, body, token = key) => {
    const response = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  return {
    url,
    ask,
    async answered(path, body) {
      const { status, text } = await ask(path, body);
      expect({ status, text }).toMatchObject({ status: 200 });
      return JSON.parse(text) as Answer;
    },
    async close() {
      stop.abort();
      await served;
      if (key !== undefined) delete process.env['SERVED_KEY'];
    },
  };
}

/** The objects of a stream of events. */
export const eventsIn = (text: string): readonly Record<string, unknown>[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as Record<string, unknown>);
