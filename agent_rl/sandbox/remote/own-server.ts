import { isDeepStrictEqual } from 'node:util';

import type { Static, TSchema } from 'typebox';

import type {
  RequestKind,
  Sandbox,
  SandboxCapabilities,
  SandboxLimits,
  SandboxRequest,
  SandboxResults,
  SandboxSession,
  SessionRequest,
  SessionRun,
} from '../../core/services/sandbox.ts';
import { defaultLimits } from '../requests/request-problems.ts';
import { readCallResults } from '../requests/read-call-results.ts';
import { type HttpClient, type HttpRequest, NoAnswer } from '../../http/http-client.ts';
import {
  CallsAnswer,
  CapabilitiesAnswer,
  check,
  JudgeAnswer,
  problemText,
  RunAnswer,
  SessionAnswer,
  SessionRunAnswer,
} from './protocol.ts';

/**
 * A kind of server that the remote sandbox can use. Its methods throw `NoAnswer`, and AgentRlError `SANDBOX_UNAVAILABLE` for
 * requests that the server does not support.
 */
export interface RemoteServer extends Pick<Sandbox, 'execute'> {
  facts: Omit<SandboxCapabilities, 'backend' | 'concurrency'>;
  /** Programs that the server runs at once; 1 if it does not say. */
  places: number;
  /** @returns a function that opens the session with its first program. @throws AgentRlError `SANDBOX_UNAVAILABLE` when the server has no sessions */
  sessions(request: SessionRequest): (signal?: AbortSignal) => Promise<SandboxSession>;
  /** @returns why the server is not the one it was, or `undefined`. @throws NoAnswer */
  check(deadlineS: number): Promise<string | undefined>;
}

/** A server of this package: it runs everything that its sandbox can run. */
export class OwnServer implements RemoteServer {
  readonly facts: RemoteServer['facts'];
  readonly places: number;

  constructor(
    private readonly http: HttpClient,
    capabilities: Capabilities,
    /** Seconds an answer may take beyond the program's own limit: the program may have to wait for a free worker. */
    private readonly patienceS: number,
  ) {
    this.facts = factsOf(capabilities);
    this.places = capabilities.concurrency;
  }

  async check(deadlineS: number): Promise<string | undefined> {
    const request = { method: 'GET', path: '/capabilities', deadlineS, again: false } as const;
    const { status, json } = await this.http.send(request);
    const checked = check(CapabilitiesAnswer, json);
    if (status !== 200 || 'problems' in checked)
      return `it answers GET /capabilities with ${status} and an unknown body`;
    const now = factsOf(checked.value);
    return isDeepStrictEqual(now, this.facts)
      ? undefined
      : `it offered ${factsText(this.facts)} at the start of the run, but now offers ${factsText(now)}`;
  }

  readonly execute: RemoteServer['execute'] = async (request, signal) => {
    const { kind, ...body } = request;
    const { answer, checked } = answers[kind];
    return remote(checked(await this.#post(`/${kind}`, body, { answer, signal }), request));
  };

  sessions(request: SessionRequest) {
    return async (signal?: AbortSignal): Promise<SandboxSession> => {
      const { id } = await this.#post('/sessions', request, { answer: SessionAnswer, signal });
      const path = `/sessions/${encodeURIComponent(id)}/run`;
      return {
        run: async (program, signalOfRun): Promise<SessionRun> => {
          // Not retried: the program may have run, and would change its variables twice.
          const options = { answer: SessionRunAnswer, signal: signalOfRun, again: false };
          return remote(await this.#post(path, program, options));
        },
        close: () => this.#closeSession(id),
      };
    };
  }

  /** @throws NoAnswer when the server does not confirm that the session is closed */
  async #closeSession(id: string): Promise<void> {
    const path = `/sessions/${encodeURIComponent(id)}`;
    const request = { method: 'DELETE', path, deadlineS: this.patienceS, again: true } as const;
    const { status } = await this.http.send(request);
    if (status !== 200) throw new NoAnswer(`The server answered DELETE ${path} with ${status}.`);
  }

  /** @throws NoAnswer */
  #post<Schema extends TSchema>(
    path: string,
    body: { limits?: SandboxLimits | undefined },
    { answer: schema, signal, again = true }: PostOptions<Schema>,
  ): Promise<Static<Schema>> {
    const deadlineS = (body.limits?.wallS ?? defaultLimits.wallS) + this.patienceS;
    return checkedAnswer(schema, this.http, { path, body, deadlineS, again }, signal);
  }
}

export type Capabilities = Static<typeof CapabilitiesAnswer>;

const factsOf = ({ level, python, modules = [] }: Capabilities): RemoteServer['facts'] => ({
  level: `remote:${level}`,
  python,
  modules: modules.length > 0 ? modules : undefined,
});

/** Describes everything about a server that a result may depend on. */
export const factsText = ({ level, python, modules = [] }: RemoteServer['facts']): string =>
  `${level.replace(/^remote:/, '')} with Python ${python}${modules.length === 0 ? '' : ` and ${modules.join(', ')}`}`;

/** A server's answer to a POST. @throws NoAnswer for any status but 200 and for a body that does not match the schema */
export async function checkedAnswer<Schema extends TSchema>(
  schema: Schema,
  http: HttpClient,
  request: Omit<HttpRequest, 'method'>,
  signal: AbortSignal | undefined,
): Promise<Static<Schema>> {
  const { path } = request;
  const { status, json, text } = await http.send({ ...request, method: 'POST' }, signal);
  if (status !== 200) {
    throw new NoAnswer(`The server answered ${path} with ${status}: ${text.slice(0, 300)}`);
  }
  const checked = check(schema, json);
  if ('value' in checked) return checked.value;
  throw new NoAnswer(
    `The server's answer to ${path} is malformed: ${problemText(checked.problems)}`,
  );
}

interface Answer<Kind extends RequestKind> {
  answer: TSchema;
  /** @throws NoAnswer when the answer does not match the request */
  checked: (answer: unknown, request: SandboxRequest<Kind>) => SandboxResults[Kind];
}

const answers: { [Kind in RequestKind]: Answer<Kind> } = {
  run: { answer: RunAnswer, checked: (answer) => answer as Static<typeof RunAnswer> },
  calls: {
    answer: CallsAnswer,
    checked: (answer, { args }) => {
      const called = answer as Static<typeof CallsAnswer>;
      const results = readCallResults(JSON.stringify(called.results));
      if (results !== undefined && results.length <= args.length) return { ...called, results };
      throw new NoAnswer('The server answered /calls with malformed results.');
    },
  },
  judge: {
    answer: JudgeAnswer,
    checked: (answer, { tests }) => {
      const judged = answer as Static<typeof JudgeAnswer>;
      if (judged.verdicts.length <= tests.statements.length) return judged;
      throw new NoAnswer(
        'The server answered /judge with more verdicts than there are statements.',
      );
    },
  },
};

interface PostOptions<Schema> {
  answer: Schema;
  signal: AbortSignal | undefined;
  again?: boolean;
}

const remote = <Result extends { level: string }>(result: Result): Result => ({
  ...result,
  level: `remote:${result.level}`,
});
