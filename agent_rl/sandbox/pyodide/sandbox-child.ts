import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { keptOutputBytes } from '../../core/services/sandbox.ts';
import { lineReader } from './protocol.ts';
import type {
  ChildArguments,
  ChildMessage,
  ChildRequest,
  ChildResult,
  ChildSettings,
} from './protocol.ts';
import { startRestricted } from './boot/restricted-node.ts';

/** Time for a child to answer beyond a program's deadline, grace included. A child that takes longer is stuck. */
const patienceMs = 15_000;
const startMs = 60_000;
const endMs = 2000;

/** The child process ended, or was ended, before it answered. */
export class ChildDied extends Error {
  override readonly name = 'ChildDied';

  constructor(
    message: string,
    /**
     * Whether another process or the system killed it, for lack of memory for example. A program cannot: it sends no
     * signals and its memory is limited.
     */
    readonly fromOutside = false,
  ) {
    super(message);
  }
}

interface InFlight {
  resolve: (result: ChildResult) => void;
  reject: (error: ChildDied) => void;
  watchdog: NodeJS.Timeout;
}

/** One child process of the sandbox, which runs one program at a time. */
export class SandboxChild {
  readonly #process: ChildProcess;
  /** Settles with the reason when the process has ended. */
  readonly died: Promise<ChildDied>;
  #reportDeath!: (death: ChildDied) => void;
  #inFlight: InFlight | undefined;
  #ready = unsettled();
  #death: ChildDied | undefined;
  #failure = '';
  #killed = false;
  #stderr = '';

  constructor(settings: ChildSettings) {
    this.died = new Promise((resolve) => (this.#reportDeath = resolve));
    this.#process = startRestricted({
      path: 'child/child-main',
      settings: { ...settings, captureBytes: keptOutputBytes } satisfies ChildArguments,
      readableFolders: [settings.snapshotFolder, settings.pyodideFolder],
      dataMiB: 3000,
    });
    this.#listen();
    const startTimer = setTimeout(() => this.kill('did not start in time'), startMs);
    const started = (): void => clearTimeout(startTimer);
    this.#ready.promise.then(started, started);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Settles when the child can take the next run. @throws ChildDied */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Runs one program at a time; call it after `ready` has settled. @throws ChildDied */
  run(request: ChildRequest): Promise<ChildResult> {
    if (this.#death) return Promise.reject(this.#death);
    this.#ready = unsettled();
    return new Promise((resolve, reject) => {
      const watchdog = setTimeout(
        () => this.kill('did not answer in time'),
        request.wallMs + patienceMs,
      );
      this.#inFlight = { resolve, reject, watchdog };
      this.#process.stdin?.write(`${JSON.stringify(request)}\n`);
    });
  }

  kill(why: string): void {
    this.#failure ||= why;
    this.#killed = true;
    this.#process.kill('SIGKILL');
  }

  /** Ends the child, by force if necessary. */
  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.stdin?.end();
    const force = setTimeout(() => this.kill('did not end in time'), endMs);
    await exit;
    clearTimeout(force);
  }

  #listen(): void {
    const { stdin, stdout, stderr } = this.#process;
    // The exit event follows a broken pipe and is handled below.
    stdin?.on('error', () => undefined);
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-1000);
    });
    stdout?.setEncoding('utf8').on(
      'data',
      lineReader((line) => this.#take(JSON.parse(line) as ChildMessage)),
    );
    this.#process.on('error', (error) => this.#die(error.message));
    this.#process.on('exit', (code, signal) =>
      this.#die(`ended with ${signal ?? `code ${code}`}`, signal === 'SIGKILL' && !this.#killed),
    );
  }

  #take(message: ChildMessage): void {
    if (message.kind === 'ready') this.#ready.resolve();
    else if (message.kind === 'failed') this.#failure = message.message;
    else {
      const { kind: _, ...result } = message;
      clearTimeout(this.#inFlight?.watchdog);
      this.#inFlight?.resolve(result);
      this.#inFlight = undefined;
    }
  }

  #die(how: string, fromOutside = false): void {
    const why = [how, this.#failure, this.#stderr.trim()].filter(Boolean).join('; ');
    this.#death ??= new ChildDied(`The sandbox's child process ${why}.`, fromOutside);
    clearTimeout(this.#inFlight?.watchdog);
    this.#inFlight?.reject(this.#death);
    this.#inFlight = undefined;
    this.#ready.reject(this.#death);
    this.#reportDeath(this.#death);
  }
}

/** A promise that is settled from outside. Its rejection need not be handled. */
function unsettled() {
  let resolve!: () => void;
  let reject!: (error: ChildDied) => void;
  const promise = new Promise<void>((...settle) => ([resolve, reject] = settle));
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
