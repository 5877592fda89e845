import { secretOf } from '../../core/wire/secret-of.ts';
import { messageOf } from '../../core/errors.ts';
import { EventAnswer } from '../../http/answer-request.ts';
import { HttpClient } from '../../http/http-client.ts';
import { Refusal } from '../../http/refusal.ts';
import type { Call } from './answer-call.ts';

/** A model that is not trained, and where it is. */
export interface OtherModel {
  /** Ends in `/v1`. */
  readonly url: string;
  /** What it is called there. */
  readonly model?: string | undefined;
  readonly apiKeyEnv?: string | undefined;
}

/** Asks a model that is not trained. @throws Refusal with the status of its answer */
export type AskOther = (call: Call) => Promise<object>;

const connections = 64;
/** Models that think take minutes, and an agent has a deadline of its own. */
const deadlineS = 3600;

/**
 * The models that requests may name besides the one that is trained.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a key that is not set
 */
export function otherModels(
  others: Readonly<Record<string, OtherModel>>,
  onRetry: (message: string) => void,
): ReadonlyMap<string, AskOther> {
  return new Map(
    Object.entries(others).map(([name, { url, model = name, apiKeyEnv }]) => {
      const user = `Model ${JSON.stringify(name)} (gateway.others)`;
      const token = apiKeyEnv === undefined ? undefined : secretOf(apiKeyEnv, { user });
      const http = new HttpClient({
        url: url.replace(/\/+$/, ''),
        token,
        connections,
        pauseMs: 200,
        onRetry,
      });
      return [name, (call) => forwarded(call, { http, name, model })];
    }),
  );
}

async function forwarded(
  { method, path, body, signal }: Call,
  { http, name, model }: { http: HttpClient; name: string; model: string },
): Promise<object> {
  const request = {
    method: method === 'GET' ? ('GET' as const) : ('POST' as const),
    path: path.replace(/^.*?\/v1(?=\/)/, ''),
    body: { ...(body as object), model },
    deadlineS,
    again: false,
  };
  const answer = await http.send(request, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new Refusal(502, `Model ${JSON.stringify(name)} does not answer: ${messageOf(cause)}.`);
  });
  const { status, json, text } = answer;
  if (status !== 200)
    throw new Refusal(
      status,
      `Model ${JSON.stringify(name)} answered ${status}: ${text.slice(0, 500)}`,
    );
  if (typeof json === 'object' && json !== null) return json;
  return new EventAnswer(eventsIn(text));
}

async function* eventsIn(text: string): AsyncGenerator<string> {
  for (const [, data = ''] of text.matchAll(/^data: ?(.*)$/gm)) yield data;
}
