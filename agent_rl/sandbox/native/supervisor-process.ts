import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { AgentRlError } from '../../core/errors.ts';
import { packageRoot } from '../../core/package-root.ts';
import { lineReader } from '../pyodide/protocol.ts';
import { pythonEnvironment, pythonFlags } from './find-python.ts';
import type { Hello, SupervisorReply, SupervisorRequest } from './protocol.ts';
import { lastLine } from '../last-line.ts';

export interface SupervisorOptions {
  python: string;
  level: 'ns' | 'lite';
  /** Modules beyond the standard library that every program may import. */
  preload: readonly string[];
  /** Where level `lite` puts working folders; by default the system's folder for temporary files. */
  base?: string;
}

const startMs = 60_000;
const endMs = 5000;
/** Time for an answer beyond a program's deadline, on a busy machine. */
const patienceMs = 60_000;

/** Runs a folder's `main.py` under that bare name, since every program inherits what Python knows of it. */
const launch =
  'import sys\nexec(compile(open(sys.argv[1] + "/main.py", encoding="utf-8").read(), "<main.py>", "exec"))';

const argumentsOf = (settings: object): readonly string[] => [
  ...pythonFlags,
  '-c',
  launch,
  join(packageRoot(), 'agent_rl', 'sandbox', 'native', 'python'),
  JSON.stringify(settings),
];

/** Removes the working folders of dead supervisors and returns their number. */
export async function sweep({ python, base = tmpdir() }: SupervisorOptions): Promise<number> {
  const args = argumentsOf({ level: 'sweep', base });
  const { stdout } = await promisify(execFile)(python, args, { env: pythonEnvironment, cwd: '/' });
  return (JSON.parse(stdout) as { swept: number }).swept;
}

/** The supervisor ended before it answered. */
export class SupervisorDied extends Error {
  override readonly name = 'SupervisorDied';
}

interface Waiting {
  resolve: (reply: SupervisorReply) => void;
  reject: (error: SupervisorDied) => void;
}

/** The supervisor of all native sandboxes of a run: one process, any number of requests at once. */
export class SupervisorProcess {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  #hello: ((line: string) => void) | undefined;
  #death: SupervisorDied | undefined;
  #stderr = '';
  #nextId = 1;

  private constructor({ python, level, preload, base = tmpdir() }: SupervisorOptions) {
    // Folders that a program must not see even if they lie within Python's own folders.
    const hidden = [packageRoot(), process.cwd()];
    this.#process = spawn(python, argumentsOf({ level, preload, hidden, base }), {
      env: pythonEnvironment,
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#ended = new Promise((resolve) => {
      this.#process.once('close', (code, signal) => {
        const output = this.#stderr.trim().slice(-500);
        this.#die(`it ended with ${signal ?? `code ${code}`}${output && `: ${output}`}`);
        resolve();
      });
      this.#process.once('error', (error) => {
        this.#die(error.message);
        resolve();
      });
    });
    this.#listen();
  }

  /** @throws AgentRlError `SANDBOX_UNAVAILABLE` when the level is not available here. */
  static async start(options: SupervisorOptions) {
    const supervisor = new SupervisorProcess(options);
    const hello = await supervisor.#greeting();
    if ('failed' in hello) {
      await supervisor.end();
      throw new AgentRlError(
        'SANDBOX_UNAVAILABLE',
        `native:${options.level} is not available here: ${startProblem(hello.failed, options)}.`,
      );
    }
    return { supervisor, hello };
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Why the supervisor takes no more requests, or `undefined`. */
  get death(): SupervisorDied | undefined {
    return this.#death;
  }

  /** @throws SupervisorDied; the signal's reason if it was aborted before the request was sent */
  async ask(request: SupervisorRequest, signal?: AbortSignal): Promise<SupervisorReply> {
    signal?.throwIfAborted();
    if (this.#death) throw this.#death;
    const id = this.#nextId++;
    const cancel = (): void => this.#write({ do: 'cancel', id });
    signal?.addEventListener('abort', cancel, { once: true });
    // A supervisor that does not end an overdue program is stuck.
    const giveUp = (): void => {
      this.#stderr += '\nit did not answer in time';
      this.#process.kill('SIGKILL');
    };
    const stuck = setTimeout(giveUp, request.limits.wall_s * 1000 + patienceMs);
    return new Promise<SupervisorReply>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#write({ ...request, id });
    }).finally(() => {
      clearTimeout(stuck);
      signal?.removeEventListener('abort', cancel);
    });
  }

  closeSession(session: string): void {
    this.#write({ do: 'close', session });
  }

  /** Ends the supervisor and all its programs, by force if necessary. */
  async end(): Promise<void> {
    this.#die('the sandbox was closed');
    this.#process.stdin?.end();
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), endMs);
    await this.#ended;
    clearTimeout(timer);
  }

  #greeting(): Promise<Hello | { failed: string }> {
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), startMs);
    const line = new Promise<string>((resolve) => {
      this.#hello = resolve;
    });
    const ended = this.#ended.then(() => JSON.stringify({ failed: this.#death?.message }));
    return Promise.race([line, ended])
      .then((text) => JSON.parse(text) as Hello)
      .finally(() => clearTimeout(timer));
  }

  #listen(): void {
    this.#process.stdout?.setEncoding('utf8').on(
      'data',
      lineReader((line) => this.#hear(line)),
    );
    this.#process.stderr
      ?.setEncoding('utf8')
      .on('data', (text: string) => (this.#stderr = (this.#stderr + text).slice(-4000)));
    // The `close` event reports a dead supervisor.
    this.#process.stdin?.on('error', () => undefined);
  }

  #hear(line: string): void {
    if (this.#hello) {
      this.#hello(line);
      this.#hello = undefined;
      return;
    }
    const reply = JSON.parse(line) as SupervisorReply & { id: number };
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    waiting?.resolve(reply);
  }

  #write(message: object): void {
    if (this.#process.stdin?.writable === true)
      this.#process.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #die(why: string): void {
    this.#death ??= new SupervisorDied(
      `The sandbox's supervisor process is no longer running: ${why}`,
    );
    for (const { reject } of this.#waiting.values()) reject(this.#death);
    this.#waiting.clear();
  }
}

/** Options of the supervisor that did not start. */
interface Context {
  python: string;
  preload: readonly string[];
}

const forbidden = ([, what = '']: RegExpExecArray): string =>
  `this kernel or container forbids namespaces (${what}). Allow user namespaces, or, as root in a container, add the capability CAP_SYS_ADMIN`;

/** Python's last line after a failed start, and the message for the user. */
const known: readonly [RegExp, (match: RegExpExecArray, context: Context) => string][] = [
  [
    /^ModuleNotFoundError: No module named '([^']+)'/,
    ([, name = ''], { python, preload }) =>
      preload.includes(name)
        ? `sandbox.preload lists ${name}, but ${python} does not have this module. Install it for this Python, or set sandbox.python to another Python`
        : `${python} lacks the module ${name}. Set sandbox.python to a complete Python`,
  ],
  [/^(?:OSError|PermissionError): .*?((?:unshare|clone|mount|pivot_root)\b[^:]*: .+)$/, forbidden],
  [/^PermissionError: .*'(.*(?:uid_map|gid_map|setgroups))'$/, forbidden],
  [
    /^FileNotFoundError: .*'(.*agent_rl\/sandbox\/.*)'$/,
    ([, path]) => `the package lacks ${path}. Reinstall it`,
  ],
  [/^(?:RuntimeError|Unavailable|UnknownMachine): (.+)$/, ([, what = '']) => what],
];

/** Why a supervisor does not start, as a sentence without a full stop. `failed` may be a whole traceback. */
export function startProblem(failed: string, context: Context): string {
  const last = lastLine(failed).trim();
  for (const [pattern, sentence] of known) {
    const match = pattern.exec(last);
    if (match !== null) return sentence(match, context);
  }
  return last === '' ? 'its supervisor ended without a message' : last.replace(/\.$/, '');
}
