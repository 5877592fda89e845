import { randomBytes } from 'node:crypto';

import { AgentRlError } from '../../core/errors.ts';
import {
  type CallsRequest,
  type CallsResult,
  keptOutputBytes,
  type RequestKind,
  type RunResult,
  type SandboxRequests,
  type SandboxResults,
} from '../../core/services/sandbox.ts';
import { defaultLimits } from '../requests/limit-problems.ts';
import { callsFiles, callsProgram, readResultLines } from './calls-program.ts';
import { bodyOf, endingOf, FusionAnswer } from './fusion.ts';
import type { HttpClient } from '../../http/http-client.ts';
import { checkedAnswer, type RemoteServer } from './own-server.ts';

/**
 * A server that speaks SandboxFusion's `POST /run_code` and no more. It runs programs and, as one program each, calls. It
 * cannot judge by statements: that takes two sandboxes joined by a channel, and statements next to the program could be
 * read and changed by it. Nor has it sessions.
 */
export class FusionServer implements RemoteServer {
  readonly #byKind: {
    [Kind in RequestKind]: (
      request: SandboxRequests[Kind],
      signal?: AbortSignal,
    ) => Promise<SandboxResults[Kind]>;
  } = {
    run: async (request, signal) => (await this.#post(bodyOf(request), signal)).result,
    calls: (request, signal) => this.#calls(request, signal),
    judge: async () => {
      throw unable('judge programs by assert statements');
    },
  };

  private constructor(
    private readonly http: HttpClient,
    private readonly patienceS: number,
    readonly facts: RemoteServer['facts'],
  ) {}

  /**
   * Tries the server: a server that gives no files back would fail every program that is called.
   *
   * @throws AgentRlError `SANDBOX_UNAVAILABLE`, NoAnswer
   */
  static async open(http: HttpClient, patienceS: number): Promise<FusionServer> {
    const level = 'remote:sandbox-fusion';
    const unknown = new FusionServer(http, patienceS, { level, python: '' });
    const code = 'import sys\ndef version(): return "%d.%d" % sys.version_info[:2]';
    const tried = await unknown.#calls({ code, entry: 'version', args: [[]] });
    const [result] = tried.results;
    if (result?.ok !== true || typeof result.value !== 'string') {
      throw new AgentRlError(
        'SANDBOX_UNAVAILABLE',
        `The server answers POST /run_code, but a call of a function through it does not work: ${tried.status} ${tried.message ?? tried.stderr.slice(-300)}. It must have Python 3.9 or later, take \`files\` and give back \`fetch_files\`.`,
      );
    }
    const unsupported = ['judge', 'sessions'] as const;
    return new FusionServer(http, patienceS, { level, python: result.value, unsupported });
  }

  readonly execute: RemoteServer['execute'] = (request, signal) =>
    this.#byKind[request.kind](request, signal);

  readonly places = 1;

  sessions(): never {
    throw unable('keep the variables of a session');
  }

  async check(deadlineS: number): Promise<undefined> {
    // Any answer says that it is there: it has no page of its own for this.
    await this.http.send({ method: 'GET', path: '/capabilities', deadlineS, again: false });
  }

  async #calls(request: CallsRequest, signal?: AbortSignal): Promise<CallsResult> {
    const { limits = {}, args } = request;
    // So that no program writes there by accident. One that wants to can find it, and gains nothing: a result it makes
    // up is a result it might as well return, and what is expected is not there.
    const name = `results-${randomBytes(8).toString('hex')}`;
    const body = bodyOf({ code: callsProgram(name), files: callsFiles(request), limits });
    const { result, files } = await this.#post({ ...body, fetch_files: [name] }, signal);
    const text = Buffer.from(files[name] ?? '', 'base64').toString();
    const read = readResultLines(text, args.length);
    if (read === undefined) {
      const message = 'the program tampered with its results';
      return { ...result, status: 'crashed', message, results: [] };
    }
    const status = read.outOfMemory && result.status === 'error' ? 'memory_limit' : result.status;
    return { ...result, status, results: read.results };
  }

  /** @throws NoAnswer */
  async #post(
    body: ReturnType<typeof bodyOf>,
    signal: AbortSignal | undefined,
  ): Promise<{ result: RunResult; files: Readonly<Record<string, string>> }> {
    const deadlineS = (body.run_timeout || defaultLimits.wallS) + this.patienceS;
    const started = performance.now();
    const request = { path: '/run_code', body, deadlineS, again: true };
    const answer = await checkedAnswer(FusionAnswer, this.http, request, signal);
    const result = this.#result(answer, performance.now() - started);
    return { result, files: answer.files ?? {} };
  }

  #result(answer: FusionAnswer, tookMs: number): RunResult {
    const { command, ...ending } = endingOf(answer);
    const [stdout, stderr] = [cut(command.stdout ?? ''), cut(command.stderr ?? '')];
    const seconds = command.execution_time;
    return {
      ...ending,
      stdout: stdout.text,
      stderr: stderr.text,
      stdoutBytes: stdout.bytes,
      stderrBytes: stderr.bytes,
      truncated: stdout.cut || stderr.cut,
      wallMs: seconds === undefined || seconds === null ? tookMs : 1000 * seconds,
      level: this.facts.level,
    };
  }
}

function cut(text: string): { text: string; bytes: number; cut: boolean } {
  const whole = Buffer.from(text);
  if (whole.length <= keptOutputBytes) return { text, bytes: whole.length, cut: false };
  // The last character may be cut in two, and then stands as U+FFFD, which must not make it longer.
  const kept = whole.subarray(0, keptOutputBytes).toString();
  return { text: kept, bytes: whole.length, cut: true };
}

const unable = (what: string): AgentRlError =>
  new AgentRlError(
    'SANDBOX_UNAVAILABLE',
    `The remote sandbox speaks only POST /run_code and cannot ${what}. Start \`agent-rl sandbox serve\` there, or use a sandbox of this machine.`,
  );
