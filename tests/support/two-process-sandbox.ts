import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { dirname } from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

import type {
  JudgeRequest,
  RequestKind,
  RunResult,
  Sandbox,
  SandboxLimits,
  SandboxRequests,
  SandboxResults,
} from '#agent_rl/core/services/sandbox.ts';
import { harnessFolder } from '#agent_rl/sandbox/harness/read-harness.ts';
import { readCallResults } from '#agent_rl/sandbox/requests/read-call-results.ts';
import { readVerdicts } from '#agent_rl/sandbox/requests/read-verdicts.ts';

/** Adds a side of its own to what every child begins with: its payload, limits and the harness. */
const programOf = (side: string): string => `
import json, os, resource, sys
with open(3) as file: payload = json.load(file)
resource.setrlimit(resource.RLIMIT_DATA, (payload['memory'], payload['memory']))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.path.insert(0, payload['harness'])
leave = os._exit
def emit(text, write=os.write):
    rest = (text + '\\n').encode()
    while rest: rest = rest[write(4, rest):]
${side}
`;

const sides = {
  run: programOf(`
from harness import program
leave(program.run(payload['code'], payload['seed']) % 255)`),
  calls: programOf(`
from harness import program
leave(program.calls(payload['code'], payload['entry'], payload['args'], payload['seed'], emit) % 255)`),
  solution: programOf(`
from harness import channel, solution
leave(solution.serve(payload['code'], channel.Channel(5)) % 255)`),
  tests: programOf(`
from harness import asserts, channel
asserts.judge(payload['tests'], channel.Channel(5), emit)
leave(0)`),
} as const;

interface Ended {
  result: RunResult;
  /** Lines on descriptor 4. */
  lines: readonly string[];
}

interface Payload {
  limits?: SandboxLimits | undefined;
  stdin?: string | undefined;
  [key: string]: unknown;
}

/**
 * The harness in plain `python3` processes, one for a program and one for its tests, which Node joins. It confines
 * nothing and knows no other limits than time and memory: for programs written in this repository only.
 */
export function twoProcessSandbox(): Sandbox {
  return {
    execute: (request) => kinds[request.kind](request),
    openSession: () => {
      throw new Error('The sandbox of two processes has no sessions.');
    },
    capabilities: () => ({ backend: 'double', level: 'none', python: '3', concurrency: 1 }),
    close: async () => undefined,
  };
}

const kinds: {
  [Kind in RequestKind]: (request: SandboxRequests[Kind]) => Promise<SandboxResults[Kind]>;
} = {
  run: async ({ code, stdin, limits, seed = 0 }) =>
    (await Side.start('run', { code, seed, stdin, limits }).ended).result,
  calls: async ({ code, entry, args, limits, seed = 0 }) => {
    const payload = { code, entry, args: JSON.stringify(args), seed, limits };
    const { result, lines } = await Side.start('calls', payload).ended;
    const results = readCallResults(arrayOf(lines));
    return results === undefined
      ? { ...result, status: 'crashed', results: [] }
      : { ...result, results };
  },
  judge,
};

async function judge({ code, tests, limits }: JudgeRequest) {
  const solution = Side.start('solution', { code, limits });
  const judging = Side.start('tests', { tests, limits });
  solution.channel.pipe(judging.channel).pipe(solution.channel);
  // Tests that leave what was sent to them unread end their channel by an error, which no pipe passes on.
  const over = judging.ended.finally(() => solution.channel.destroy());
  const [{ result }, { lines }] = await Promise.all([solution.ended, over]);
  const verdicts = readVerdicts(lines, tests.statements.length);
  if (verdicts === undefined) throw new Error(`The tests said ${lines.join(' ').slice(0, 400)}`);
  return { ...result, verdicts };
}

const arrayOf = (lines: readonly string[]): string => `[${lines.join(',')}]`;

/** One process. */
class Side {
  readonly channel: Duplex;
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #timedOut = false;

  private constructor(program: string, payload: Payload) {
    const { limits: { wallS = 20, memoryMiB = 512 } = {}, stdin = '', ...rest } = payload;
    this.#child = spawn('python3', ['-I', '-S', '-B', '-c', program], {
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], PYTHONHASHSEED: '0' },
      cwd: '/',
      detached: true,
    });
    const [, , , given, said, channel] = this.#child.stdio as readonly unknown[];
    this.channel = channel as Duplex;
    for (const stream of this.#child.stdio) stream?.on('error', ignoreBrokenPipe);
    this.#child.stdin?.end(stdin);
    const memory = memoryMiB * 1024 * 1024;
    (given as Writable).end(JSON.stringify({ ...rest, memory, harness: dirname(harnessFolder()) }));
    this.ended = this.#end(said as Readable, wallS);
  }

  static start(side: keyof typeof sides, payload: Payload): Side {
    return new Side(sides[side], payload);
  }

  async #end(said: Readable, wallS: number): Promise<Ended> {
    const timer = setTimeout(() => {
      this.#timedOut = true;
      this.#child.kill('SIGKILL');
    }, wallS * 1000);
    const started = performance.now();
    const closed = new Promise<number | null>((resolve) => this.#child.once('exit', resolve));
    const [stdout, stderr, lines, code] = await Promise.all([
      textOf(this.#child.stdout),
      textOf(this.#child.stderr),
      textOf(said),
      closed,
    ]);
    clearTimeout(timer);
    const status = this.#timedOut
      ? 'timeout'
      : code === null
        ? 'signaled'
        : code === 0
          ? 'ok'
          : 'error';
    const result: RunResult = {
      status,
      ...(code === null ? {} : { exitCode: code }),
      stdout,
      stderr,
      stdoutBytes: Buffer.byteLength(stdout),
      stderrBytes: Buffer.byteLength(stderr),
      truncated: false,
      wallMs: performance.now() - started,
      level: 'none',
    };
    return { result, lines: lines.split('\n').slice(0, -1) };
  }
}

const textOf = (stream: Readable | null): Promise<string> =>
  stream === null ? Promise.resolve('') : text(stream);

/** A child that ends early leaves what was meant for it unread. */
function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') throw error;
}
