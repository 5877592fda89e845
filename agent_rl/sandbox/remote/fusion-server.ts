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
  type CallResult,
  type SandboxFiles,
} from '../../core/services/sandbox.ts';
import { defaultLimits } from '../requests/request-problems.ts';
import { bodyOf, endingOf, FusionAnswer } from './fusion.ts';
import type { HttpClient } from '../../http/http-client.ts';
import { checkedAnswer, type RemoteServer } from './own-server.ts';
import { readHarness } from '../harness/read-harness.ts';
import { readCallResults } from '../requests/read-call-results.ts';

/**
 * A server that supports only SandboxFusion's `POST /run_code`. It runs programs, and each request of calls as one program.
 * It cannot judge by statements: that takes two sandboxes joined by a channel, since a program could read and change
 * statements beside it. It has no sessions either.
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
   * Tests the server with a call: on a server that returns no files every call would fail.
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
        `The server answers POST /run_code, but a test call of a function failed: ${tried.status} ${tried.message ?? tried.stderr.slice(-300)}. The server needs Python 3.9 or later and must support \`files\` and \`fetch_files\`.`,
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
    // Any answer shows that the server is up: it has no health check.
    await this.http.send({ method: 'GET', path: '/capabilities', deadlineS, again: false });
  }

  async #calls(request: CallsRequest, signal?: AbortSignal): Promise<CallsResult> {
    const { limits = {}, args } = request;
    // A random name, so that no program writes there by accident. A program that searches for the file gains nothing: it
    // could just as well return the forged result, and the expected values are not there.
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
    `The remote sandbox supports only POST /run_code and cannot ${what}. Start \`agent-rl sandbox serve\` on that machine, or use a local sandbox.`,
  );

const job = 'job.json';
/** What the harness says of a program that ran out of memory, see `harness/program.py`. */
const memoryErrorCode = 256;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The harness and what is to be called, as files beside a program. Nothing of it is secret. */
function callsFiles({ code, entry, args, seed = 0 }: CallsRequest): SandboxFiles {
  const harness = readHarness().map(([name, source]) => [`harness/${name}.py`, base64(source)]);
  // Arguments stay text: the harness reads them its own way.
  const settings = { code, entry, args: JSON.stringify(args), seed };
  return { ...Object.fromEntries(harness), [job]: base64(JSON.stringify(settings)) };
}

/** A program that makes the calls and writes one line of JSON for each into a file. */
const callsProgram = (results: string): string => `import json, os, sys
sys.path.insert(0, os.getcwd())
from harness.program import calls
with open(${JSON.stringify(job)}, encoding='utf-8') as file: job = json.load(file)
out = open(${JSON.stringify(results)}, 'w', encoding='ascii')
def emit(text, write=out.write, flush=out.flush):
    write(text + '\\n')
    flush()
leave = os._exit
code = calls(job['code'], job['entry'], job['args'], job['seed'], emit)
if code == ${memoryErrorCode}: emit('{"memory":true}')
leave(min(code, 255))
`;

/** The lines of the file, or `undefined` when our own harness did not write them. */
function readResultLines(
  text: string,
  count: number,
): { results: readonly CallResult[]; outOfMemory: boolean } | undefined {
  const lines = text.split('\n').slice(0, -1);
  const outOfMemory = lines.at(-1) === '{"memory":true}';
  const results = readCallResults(`[${(outOfMemory ? lines.slice(0, -1) : lines).join(',')}]`);
  if (results === undefined || results.length > count) return undefined;
  return { results, outOfMemory };
}
