import { bytesOf, type Exchange, kept } from './exchanges.ts';
import { type Answered, type Asked, loopbackService, type Outcome } from '../loopback-service.ts';

export type ReplayedService = Awaited<ReturnType<typeof replayedService>>;

const keyOf = (asked: Pick<Exchange, 'method' | 'path' | 'json' | 'base64'>): string =>
  JSON.stringify([asked.method, asked.path, asked.json, asked.base64]);

export interface Changes {
  /** An answer instead of the captured one, which is then given to the same request when it comes again. */
  instead?: (asked: Asked, captured: Outcome | undefined) => Outcome | undefined;
  /** What becomes of the captured answer. */
  changed?: (asked: Asked, answer: Outcome) => Outcome;
}

/** A Tinker service that answers what a real one answered to the same bytes, in the order in which it did; the heartbeat always. */
export async function replayedService(
  exchanges: readonly Exchange[],
  { instead = () => undefined, changed = (_, answer) => answer }: Changes = {},
) {
  const waiting = new Map<string, Exchange[]>();
  for (const exchange of exchanges)
    waiting.set(keyOf(exchange), [...(waiting.get(keyOf(exchange)) ?? []), exchange]);
  /** What was asked and is in no captured exchange, or was asked more often. */
  const unknown: string[] = [];
  const said = new Map<string, Exchange>();
  const service = await loopbackService((asked) => {
    const { method, path, headers, bytes } = asked;
    if (path.endsWith('session_heartbeat')) return json(200, { type: 'session_heartbeat' });
    const key = keyOf({ method, path, ...kept(bytes, headers['content-type']) });
    const known = waiting.get(key)?.[0] ?? said.get(key);
    const other = instead(asked, known && answerOf(known));
    if (other !== undefined) return other;
    waiting.get(key)?.shift();
    if (known === undefined) unknown.push(key.slice(0, 300));
    // A result is there for as long as it is asked for.
    else if (path.endsWith('/retrieve_future')) said.set(key, known);
    return changed(asked, known ? answerOf(known) : json(400, { detail: 'unheard of' }));
  });
  /** Captured exchanges that were never requested. */
  const left = () => [...waiting.values()].flat().map(({ method, path }) => `${method} ${path}`);
  return { ...service, unknown, left };
}

/** An answer of JSON. */
export const json = (status: number, value: unknown): Answered => ({
  status,
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});

function answerOf({ answer }: Exchange): Outcome {
  if (answer === 'cut') return 'cut';
  const { status, type, location } = answer;
  return { status, type, body: bytesOf(answer), ...(location !== undefined && { location }) };
}
