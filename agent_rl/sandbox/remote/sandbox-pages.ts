import type { Static, TSchema } from 'typebox';

import type { RunResult, Sandbox, SessionRequest } from '../../core/sandbox.ts';
import { type Page, Refusal } from './answer-request.ts';
import { answerOf, FusionBody, requestOf } from './fusion.ts';
import {
  CallsBody,
  check,
  JudgeBody,
  problemText,
  protocolVersion,
  RunBody,
  SessionBody,
  SessionRunBody,
} from './protocol.ts';
import type { ServedSessions } from './served-sessions.ts';

/** What a server of a sandbox answers. */
export function sandboxPages(sandbox: Sandbox, sessions: ServedSessions): readonly Page[] {
  const { level, python, concurrency } = sandbox.capabilities();
  const capabilities = {
    server: 'agent_rl',
    protocol: protocolVersion,
    level,
    python,
    concurrency,
  };
  return [
    { method: 'GET', path: /^\/capabilities$/, answer: async () => capabilities },
    post(/^\/run$/, RunBody, (body, { signal }) => sandbox.run(body, signal)),
    post(/^\/calls$/, CallsBody, (body, { signal }) => sandbox.calls(body, signal)),
    post(/^\/judge$/, JudgeBody, (body, { signal }) => sandbox.judge(body, signal)),
    post(/^\/sessions$/, SessionBody, async (body) => ({
      id: sessions.open(body as SessionRequest),
    })),
    post(/^\/sessions\/(?<id>[^/]+)\/run$/, SessionRunBody, (body, { groups, signal }) =>
      sessions.run(groups['id'] ?? '', body, signal),
    ),
    {
      method: 'DELETE',
      path: /^\/sessions\/(?<id>[^/]+)$/,
      answer: async ({ groups }) => {
        await sessions.end(groups['id'] ?? '');
        return {};
      },
    },
    post(/^\/run_code$/, FusionBody, async (body, { signal }) =>
      answerOf(refusedIfBad(await sandbox.run(requestOf(body), signal))),
    ),
  ];
}

/** A request that cannot be run is the caller's mistake, which is told as every other of its mistakes. */
function refusedIfBad(result: RunResult): RunResult {
  if (result.status !== 'bad_request') return result;
  const message = result.message ?? 'cannot be run';
  throw new Refusal(422, message, [{ path: [], message }]);
}

function post<Schema extends TSchema>(
  path: RegExp,
  schema: Schema,
  answer: (body: BodyOf<Schema>, request: Parameters<Page['answer']>[0]) => Promise<object>,
): Page {
  return {
    method: 'POST',
    path,
    answer: async (request) => {
      const checked = check(schema, request.body);
      if ('value' in checked) return answer(checked.value as BodyOf<Schema>, request);
      throw new Refusal(422, problemText(checked.problems), checked.problems);
    },
  };
}

/** What was left out is absent, in JSON; it is never `undefined`. */
type BodyOf<Schema extends TSchema> = Defined<Static<Schema>>;
type Defined<Value> = Value extends readonly (infer Item)[]
  ? readonly Defined<Item>[]
  : Value extends object
    ? { [Key in keyof Value]: Defined<Exclude<Value[Key], undefined>> }
    : Value;
