import { createContext } from 'preact';

import type { ApiError } from '../../runs/view/api.ts';

/** A failed request, with the reason from the server or the browser. */
export class RequestFailed extends Error {
  /** 0 if the server did not respond. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Where the page's data comes from. */
export interface Answers {
  /** Whether runs may still grow; false in an export. */
  readonly live: boolean;
  /** @throws RequestFailed */
  get: <Answer>(path: string, signal: AbortSignal) => Promise<Answer>;
  /** The body of the stream of events. @throws RequestFailed */
  events: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;
}

export const AnswersContext = createContext<Answers | undefined>(undefined);

/** Requests data from the server that served the page. */
export function serverAnswers(token: string): Answers {
  const ask = async (path: string, signal: AbortSignal): Promise<Response> => {
    const response = await fetch(path, {
      headers: { authorization: `Bearer ${token}` },
      signal,
    }).catch((cause: unknown) => {
      if (signal.aborted) throw cause;
      throw new RequestFailed(0, 'The server does not respond. Is agent-rl view still running?');
    });
    if (response.ok) return response;
    throw new RequestFailed(response.status, await problemOf(response));
  };
  return {
    live: true,
    get: async <Answer>(path: string, signal: AbortSignal) =>
      (await (await ask(path, signal)).json()) as Answer,
    events: async (signal) => {
      const { body } = await ask('/api/events', signal);
      if (body === null) throw new RequestFailed(0, 'The server sent an empty event stream.');
      return body;
    },
  };
}

async function problemOf(response: Response): Promise<string> {
  const body = (await response.json().catch(() => ({}))) as Partial<ApiError>;
  return body.error ?? `The server responded with ${response.status} ${response.statusText}.`;
}
