import type { Static, TSchema } from 'typebox';

import type {
  RequestKind,
  RunRequest,
  RunResult,
  Sandbox,
  SandboxRequest,
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

const bodies: Readonly<Record<RequestKind, TSchema>> = {
  run: RunBody,
  calls: CallsBody,
  judge: JudgeBody,
};
const requestKinds = Object.keys(bodies) as RequestKind[];

/** What a server of a sandbox answers. The sandbox checks what the schemas of bodies do not. */
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
    ...requestKinds.map((kind) =>
      post(new RegExp(`^/${kind}$`), bodies[kind], (body: object, { signal }) =>
        sandbox.execute({ kind, ...body } as SandboxRequest<typeof kind>, signal),
      ),
    ),
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
      answerOf(refusedIfBad(await sandbox.execute({ kind: 'run', ...requestOf(body) }, signal))),
    ),
  ];
}

/** A request that cannot be run is the caller's mistake, which is answered as every other of its mistakes. */
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
