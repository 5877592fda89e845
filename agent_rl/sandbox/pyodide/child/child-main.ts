/** Program of a sandbox child process: serves one run at a time, ends when its standard input ends. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { InstanceWorker } from './instance-worker.ts';
import { judgeProgram } from './judge-program.ts';
import { lineReader } from '../protocol.ts';
import type {
  ChildArguments,
  ChildMessage,
  ChildRequest,
  WorkerRequest,
  WorkerSettings,
} from '../protocol.ts';

/** Runs after which an instance is replaced, so that what a restore cannot see does not add up. */
const runsPerInstance = 500;

// Node's types know the name, not the value.
declare const WebAssembly: { Module: new (bytes: Uint8Array) => object };

/**
 * While a module of the same bytes is held, the engine keeps the machine code it made for one instance for those after
 * it, which then start and run their first programs in half the time.
 */
const held: object[] = [];

const mebibyte = 1024 * 1024;
const tell = (message: ChildMessage): boolean =>
  process.stdout.write(`${JSON.stringify(message)}\n`);

function sharedBytes(file: string): Uint8Array {
  const bytes = readFileSync(file);
  const view = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  view.set(bytes);
  return view;
}

function readSettings(): WorkerSettings {
  const { snapshotFolder, pyodideFolder, captureBytes } = JSON.parse(
    process.argv[2] ?? '{}',
  ) as ChildArguments;
  const lock = JSON.parse(readFileSync(join(pyodideFolder, 'pyodide-lock.json'), 'utf8')) as {
    info: unknown;
  };
  return {
    glue: readFileSync(join(snapshotFolder, 'glue.js'), 'utf8'),
    loader: readFileSync(join(snapshotFolder, 'loader.js'), 'utf8'),
    wasm: sharedBytes(join(pyodideFolder, 'pyodide.asm.wasm')),
    stdlib: sharedBytes(join(pyodideFolder, 'python_stdlib.zip')),
    snapshot: sharedBytes(join(snapshotFolder, 'snapshot.bin')),
    instance: {
      captureBytes,
      floodBytes: 4 * mebibyte,
      fileBytes: 32 * mebibyte,
      fileCount: 2048,
      reuseBytes: 96 * mebibyte,
      lockInfo: lock.info,
    },
  };
}

class Place {
  #worker: InstanceWorker | undefined;

  constructor(private readonly settings: WorkerSettings) {}

  get isTaken(): boolean {
    return this.#worker !== undefined;
  }

  /** The instance, fit for a run. */
  async fit(): Promise<InstanceWorker> {
    const worker = this.#worker;
    if (worker && (worker.runs >= runsPerInstance || !(await worker.restored()))) {
      await worker.end();
      this.#worker = undefined;
    }
    return (this.#worker ??= await InstanceWorker.start(this.settings));
  }
}

class Server {
  /** Where programs run. Tests never do: no instance that ever held tests is given to a program. */
  readonly #programs: Place;
  /** Where tests run; empty until the first. */
  readonly #tests: Place;
  #session: InstanceWorker | undefined;

  constructor(settings: WorkerSettings) {
    this.#programs = new Place(settings);
    this.#tests = new Place(settings);
  }

  /** Makes sure that instances wait for the next run, then says so. */
  async prepare(): Promise<void> {
    await Promise.all([this.#programs.fit(), this.#tests.isTaken && this.#tests.fit()]);
    tell({ kind: 'ready' });
  }

  /** The instance stays as the programs leave it; one that is not alive ends with this process. */
  async #serveSession({ id, ...request }: ChildRequest & WorkerRequest): Promise<void> {
    this.#session ??= await this.#programs.fit();
    const result = await this.#session.run(request);
    tell({ kind: 'result', id, ...result });
    if (result.alive) tell({ kind: 'ready' });
  }

  async serve(request: ChildRequest): Promise<void> {
    const { id, task, ...rest } = request;
    if (task?.kind === 'session') return this.#serveSession({ ...rest, id, task });
    if (task?.kind === 'judge') {
      const [program, tests] = await Promise.all([this.#programs.fit(), this.#tests.fit()]);
      tell({ kind: 'result', ...(await judgeProgram({ program, tests }, { ...rest, id, task })) });
    } else {
      const worker = await this.#programs.fit();
      tell({ kind: 'result', id, ...(await worker.run(task ? { ...rest, task } : rest)) });
    }
    await this.prepare();
  }
}

function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stdout.write(
    `${JSON.stringify({ kind: 'failed', message } satisfies ChildMessage)}\n`,
    () => process.exit(1),
  );
}

function main(): void {
  process.stdin.setEncoding('utf8');
  process.stdin.on('end', () => process.exit(0));
  const settings = readSettings();
  held.push(new WebAssembly.Module(settings.wasm));
  const server = new Server(settings);
  const read = lineReader((line) => {
    server.serve(JSON.parse(line) as ChildRequest).catch(fail);
  });
  process.stdin.on('data', (chunk: string) => read(chunk));
  server.prepare().catch(fail);
}

try {
  main();
} catch (error) {
  fail(error);
}
