import { serveModel } from '#agent_rl/jobs/serve/serve-model.ts';
import { servingOptions } from './serving.ts';

export type ServingClient = Awaited<ReturnType<typeof servingClient>>;

/** Serves the starter, and asks it. */
export async function servingClient() {
  const stop = new AbortController();
  const given = await servingOptions(stop.signal);
  let served: Promise<unknown> = Promise.resolve();
  const url = await new Promise<string>((resolve, reject) => {
    served = serveModel({ ...given, onListening: resolve });
    served.catch(reject);
  });
  return {
    /** @param body a text is sent as it is */
    async ask(path: string, body?: object | string) {
      const response = await fetch(url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    },
    async close() {
      stop.abort();
      await served;
    },
  };
}

/** The objects of a stream of events. */
export const eventsIn = (text: string): readonly Record<string, unknown>[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as Record<string, unknown>);
