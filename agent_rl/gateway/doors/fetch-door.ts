import { EventAnswer, WholeAnswer } from '../../http/answer-request.ts';
import { Refusal } from '../../http/refusal.ts';
import { openAiError } from '../dialects/openai-answers.ts';
import type { Call } from './answer-call.ts';

/** `fetch` that is answered by a handler, whatever host it names. It never reaches the network. */
export const fetchDoor =
  (answer: (call: Call) => Promise<object>): typeof fetch =>
  async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined) ?? never;
    signal.throwIfAborted();
    try {
      const answered = await answer({ ...(await callOf(input, init)), signal });
      signal.throwIfAborted();
      if (answered instanceof EventAnswer) return streamed(answered.events, signal);
      if (!(answered instanceof WholeAnswer)) return json(answered, 200);
      answered.sent();
      return json(answered.body, 200);
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof Refusal)) throw thrown;
      return json(openAiError(thrown), thrown.status);
    }
  };

const never = new AbortController().signal;

const json = (body: object, status: number): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json' },
  });

/** @throws Refusal */
async function callOf(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
): Promise<Omit<Call, 'signal'>> {
  // Without a `Request` where it can be, which costs more than all else here.
  const plain = input instanceof Request || typeof init?.body !== 'string' ? undefined : init.body;
  const request = plain === undefined ? new Request(input, init) : undefined;
  const text = plain ?? (await request?.text()) ?? '';
  const headers = request?.headers ?? new Headers(init?.headers);
  return {
    method: request?.method ?? init?.method ?? 'GET',
    path: new URL(request?.url ?? input).pathname,
    header: (name) => headers.get(name) ?? undefined,
    body: text === '' ? undefined : jsonOf(text),
  };
}

/** @throws Refusal */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'The body is not JSON.', [], 'invalid_value');
  }
}

function streamed(events: AsyncIterable<string>, signal: AbortSignal): Response {
  const lines = linesOf(events, signal);
  // Reads one event ahead: a client that has its answer may end before it reads the last one.
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done === true) controller.close();
      else controller.enqueue(Buffer.from(value));
    },
    cancel: () => void lines.return(undefined),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

async function* linesOf(events: AsyncIterable<string>, signal: AbortSignal) {
  try {
    for await (const event of events) {
      signal.throwIfAborted();
      yield `data: ${event}\n\n`;
      signal.throwIfAborted();
    }
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || signal.aborted) throw thrown;
    yield `data: ${JSON.stringify(openAiError(thrown))}\n\n`;
  }
}
