import { secretOf } from '../../core/wire/secret-of.ts';
import type { Cleanup } from '../../core/stopping/cleanup.ts';
import { messageOf } from '../../core/errors.ts';
import { EventAnswer } from '../../http/answer-request.ts';
import { HttpClient } from '../../http/http-client.ts';
import { Refusal } from '../../http/refusal.ts';
import type { Config } from '../../config/index.ts';
import type { Call, CallRules } from './answer-call.ts';

/** Models that think take minutes, and an agent has a deadline of its own. */
const deadlineS = 3600;

/** The models that requests may name besides the one that is trained. @throws AgentRlError for a key that is not set */
export function otherModels(
  others: Config['gateway']['others'],
  onRetry: (message: string) => void,
  opened: Cleanup,
): NonNullable<CallRules['others']> {
  return new Map(
    Object.entries(others).map(([name, { url, model = name, apiKeyEnv }]) => {
      const user = `Model ${JSON.stringify(name)} (gateway.others)`;
      const token = apiKeyEnv === undefined ? undefined : secretOf(apiKeyEnv, { user });
      const at = { url: url.replace(/\/+$/, ''), token };
      const http = opened.add(new HttpClient({ ...at, connections: 64, pauseMs: 200, onRetry }));
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
  const refused = (status: number, problem: string) =>
    new Refusal(status, `Model ${JSON.stringify(name)} ${problem}`);
  const { status, json, text } = await http.send(request, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw refused(502, `does not respond: ${messageOf(cause)}.`);
  });
  if (status !== 200) throw refused(status, `answered ${status}: ${text.slice(0, 500)}`);
  return typeof json === 'object' && json !== null ? json : new EventAnswer(eventsIn(text));
}

async function* eventsIn(text: string): AsyncGenerator<string> {
  for (const [, data = ''] of text.matchAll(/^data: ?(.*)$/gm)) yield data;
}
