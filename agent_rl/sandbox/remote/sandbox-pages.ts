import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { RunResult, Sandbox, SessionRequest } from '../../core/services/sandbox.ts';
import { type Page, page } from '../../http/answer-request.ts';
import { Refusal } from '../../http/refusal.ts';
import { answerOf, FusionBody, requestOf } from './fusion.ts';
import { check, problemText, protocolVersion } from './protocol.ts';
import type { ServedSessions } from './served-sessions.ts';

/** The pages of a sandbox server; the sandbox checks the requests. */
export function sandboxPages(sandbox: Sandbox, sessions: ServedSessions): readonly Page[] {
  const { level, python, concurrency, modules } = sandbox.capabilities();
  const capabilities = { level, python, concurrency, modules, protocol: protocolVersion };
  return [
    page('GET', /^\/capabilities$/, async () => ({ server: 'agent_rl', ...capabilities })),
    ...(['run', 'calls', 'judge'] as const).map((kind) =>
      page('POST', new RegExp(`^/${kind}$`), ({ body, signal }) =>
        sandbox.execute({ ...(body as object), kind } as never, signal),
      ),
    ),
    page('POST', /^\/sessions$/, async ({ body }) => ({
      id: openedOrRefused(sessions, body as SessionRequest),
    })),
    page('POST', /^\/sessions\/(?<id>[^/]+)\/run$/, ({ body, groups, signal }) =>
      sessions.run(groups['id'] ?? '', body as never, signal),
    ),
    page('DELETE', /^\/sessions\/(?<id>[^/]+)$/, async ({ groups }) => {
      await sessions.end(groups['id'] ?? '');
      return {};
    }),
    page('POST', /^\/run_code$/, async ({ body, signal }) => {
      const checked = check(FusionBody, body);
      if ('problems' in checked)
        throw new Refusal(422, problemText(checked.problems), checked.problems);
      const request = { kind: 'run', ...requestOf(checked.value) } as const;
      return answerOf(refusedIfBad(await sandbox.execute(request, signal)));
    }),
  ];
}

/** Callers of SandboxFusion get the same kind of answer for a request that cannot be run as for every other mistake. */
function refusedIfBad(result: RunResult): RunResult {
  if (result.status === 'bad_request') throw mistake(result.message ?? 'cannot be run');
  return result;
}

/** The id of a new session. @throws Refusal for an invalid request */
function openedOrRefused(sessions: ServedSessions, request: SessionRequest): string {
  try {
    return sessions.open(request);
  } catch (error) {
    throw AgentRlError.is(error) ? mistake(messageOf(error)) : error;
  }
}

const mistake = (message: string): Refusal => new Refusal(422, message, [{ path: [], message }]);
