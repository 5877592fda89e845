import { type ChildProcess, spawn } from 'node:child_process';

import type { AgentContext } from '../../core/plugins/agent.ts';
import { nodeCodeOf } from '../../core/errors.ts';
import type { Redact } from '../../telemetry/redact.ts';
import { visibleControls } from '../../telemetry/visible-controls.ts';
import type { AgentRunner } from './agent-runner.ts';
import { errorNameIn } from './model-errors.ts';

interface ProcessOptions {
  name: string;
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  mostOutputBytes: number;
  redact: Redact;
  /** One line of stdin. */
  input: (context: AgentContext) => unknown;
  /** What was printed, as an answer. @throws what the agent says that it threw */
  read: (printed: string) => unknown;
}

const keptStderr = 16 * 2 ** 10;
/** How long to wait for output that another process keeps open after the process ended. */
const lastOutputMs = 1000;

/** Plays each rollout in its own process, which is ended with all its children. */
export class ProcessRunner implements AgentRunner {
  readonly #running = new Set<ChildProcess>();

  constructor(private readonly options: ProcessOptions) {}

  async run(context: AgentContext, note: (stderr: string) => void): Promise<unknown> {
    const { signal } = context;
    signal.throwIfAborted();
    const { name, read, redact } = this.options;
    const { stdout, stderr, problem } = await this.#played(context);
    const said = visibleControls(redact(stderr).slice(-keptStderr)).trim();
    if (said !== '') note(said);
    signal.throwIfAborted();
    if (problem === undefined) return read(stdout.replace(/\r?\n$/, ''));
    const tail = said === '' ? 'It wrote nothing to stderr.' : `It wrote to stderr:\n${said}`;
    const error = new Error(`${name} ${problem}. ${tail}`);
    throw Object.assign(error, { name: errorNameIn(stderr) ?? 'AgentProcessError' });
  }

  async close(): Promise<void> {
    for (const child of this.#running) endGroup(child);
  }

  async #played(context: AgentContext) {
    const { signal, baseURL, apiKey } = context;
    const { command, env, input, mostOutputBytes } = this.options;
    const [program = '', ...args] = command;
    const own = { OPENAI_BASE_URL: baseURL, OPENAI_API_BASE: baseURL, OPENAI_API_KEY: apiKey };
    const child = spawn(program, args, { detached: true, env: { ...env, ...own } });
    const end = (): void => endGroup(child);
    this.#running.add(child);
    signal.addEventListener('abort', end);
    try {
      // A program may leave its input unread.
      child.stdin?.on('error', () => undefined).end(`${JSON.stringify(input(context))}\n`);
      return await outcomeOf(child, mostOutputBytes);
    } finally {
      signal.removeEventListener('abort', end);
      this.#running.delete(child);
      // Ends children that it left running.
      end();
    }
  }
}

/** The result of a process, or the reason why it has no answer, to follow its name. */
async function outcomeOf(child: ChildProcess, mostOutputBytes: number) {
  const stdout: Buffer[] = [];
  let [bytes, stderr] = [0, ''];
  let problem: string | undefined;
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= mostOutputBytes) stdout.push(chunk);
    else {
      problem = `printed more than ${mostOutputBytes} bytes (environment.mostOutputKiB) and was stopped`;
      endGroup(child);
    }
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    // More than is kept, so that a secret is not cut before it is redacted.
    stderr = (stderr + text).slice(-2 * keptStderr);
  });
  await new Promise<void>((done) => {
    child.on('error', (error) => {
      problem ??= `could not be started (${nodeCodeOf(error)})`;
      done();
    });
    child.on('exit', (code, signal) => {
      if (code !== 0)
        problem ??= code === null ? `was ended by ${signal}` : `exited with code ${code}`;
      endGroup(child);
      setTimeout(done, lastOutputMs).unref();
    });
    child.on('close', done);
  });
  return { stdout: Buffer.concat(stdout).toString(), stderr, problem };
}

/** Ends a process with its children. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (thrown) {
    if (nodeCodeOf(thrown) !== 'ESRCH') throw thrown;
  }
}
