/** Program of a sandbox child process: serves one run at a time, ends when its standard input ends. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { InstanceWorker } from './instance-worker.ts';
import { lineReader } from './protocol.ts';
import type { ChildMessage, ChildRequest, ChildSettings, WorkerSettings } from './protocol.ts';

/** Runs after which an instance is replaced, so that what a restore cannot see does not add up. */
const runsPerInstance = 500;

const mebibyte = 1024 * 1024;
const tell = (message: ChildMessage): boolean =>
  process.stdout.write(`${JSON.stringify(message)}\n`);

/** Bytes that several workers read without a copy each. */
function sharedBytes(file: string): Uint8Array {
  const bytes = readFileSync(file);
  const view = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  view.set(bytes);
  return view;
}

function readSettings(): WorkerSettings {
  const { snapshotFolder, pyodideFolder } = JSON.parse(process.argv[2] ?? '{}') as ChildSettings;
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
      captureBytes: 64 * 1024,
      floodBytes: 4 * mebibyte,
      fileBytes: 32 * mebibyte,
      fileCount: 2048,
      reuseBytes: 96 * mebibyte,
      lockInfo: lock.info,
    },
  };
}

class Server {
  #worker: InstanceWorker | undefined;

  constructor(private readonly settings: WorkerSettings) {}

  /** Makes sure that an instance waits for the next run, then says so. */
  async prepare(): Promise<void> {
    if (
      this.#worker &&
      (this.#worker.runs >= runsPerInstance || !(await this.#worker.restored()))
    ) {
      await this.#worker.end();
      this.#worker = undefined;
    }
    this.#worker ??= await InstanceWorker.start(this.settings);
    tell({ kind: 'ready' });
  }

  async serve(request: ChildRequest): Promise<void> {
    if (this.#worker === undefined) throw new Error('asked to run before it was ready');
    tell({ kind: 'result', ...(await this.#worker.run(request)) });
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
  const server = new Server(readSettings());
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
