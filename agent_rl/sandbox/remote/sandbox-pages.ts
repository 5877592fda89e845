import type { Static, TSchema } from 'typebox';

import type {
  CallsRequest,
  JudgeRequest,
  RunRequest,
  RunResult,
  Sandbox,
  SessionRequest,
} from '../../core/services/sandbox.ts';
import { type Page, type PageRequest, Refusal } from './answer-request.ts';
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
    post(/^\/run$/, RunBody, (body: RunRequest, { signal }) => sandbox.run(body, signal)),
    post(/^\/calls$/, CallsBody, (body: CallsRequest, { signal }) => sandbox.calls(body, signal)),
    post(/^\/judge$/, JudgeBody, (body: JudgeRequest, { signal }) => sandbox.judge(body, signal)),
    post(/^\/sessions$/, SessionBody, async (body: SessionRequest) => ({
      id: sessions.open(body),
    })),
    post(
      /^\/sessions\/(?<id>[^/]+)\/run$/,
      SessionRunBody,
      (body: RunRequest, { groups, signal }) => sessions.run(groups['id'] ?? '', body, signal),
    ),
    {
      method: 'DELETE',
      path: /^\/sessions\/(?<id>[^/]+)$/,
      answer: async ({ groups }) => {
        await sessions.end(groups['id'] ?? '');
        return {};
      },
    },
    post(/^\/run_code$/, FusionBody, async (body: Static<typeof FusionBody>, { signal }) =>
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

/** @param schema of the body that `answer` takes, whose absent properties JSON cannot hold as `undefined` */
function post(
  path: RegExp,
  schema: TSchema,
  answer: (body: never, request: PageRequest) => Promise<object>,
): Page {
  return {
    method: 'POST',
    path,
    answer: async (request) => {
      const checked = check(schema, request.body);
      if ('value' in checked) return answer(checked.value as never, request);
      throw new Refusal(422, problemText(checked.problems), checked.problems);
    },
  };
}
