/** Program of a worker thread: one pyodide in a bare realm, one run at a time. */
import { parentPort, workerData } from 'node:worker_threads';

import { BareRealm, type Instance } from './bare-realm.ts';
import { steadyMs } from '../protocol.ts';
import type {
  InstanceSettings,
  WorkerMessage,
  WorkerRequest,
  WorkerSettings,
} from '../protocol.ts';
import { filesProblemText, thrownText } from './thrown-text.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const tell = (message: WorkerMessage): void => parentPort?.postMessage(message);

/** Makes the instance ready for the program. What it throws is about the program's files. */
function prepare(realm: BareRealm, instance: Instance, request: WorkerRequest): void {
  realm.prelude.seed(request.seed);
  instance.setInput(realm.bufferOf(Buffer.from(request.stdin, 'utf8')));
  instance.setMemory(request.memoryBytes);
  instance.begin();
  // A session has one quota for all of its programs.
  if (request.task?.kind !== 'session') instance.beginFiles();
  for (const [path, content] of Object.entries(request.files ?? {})) {
    instance.putFile(path, realm.bufferOf(Buffer.from(content, 'base64')));
  }
}

function execute(instance: Instance, { code, seed, task }: WorkerRequest): unknown {
  const unsigned = seed >>> 0;
  switch (task?.kind) {
    case 'calls':
      return instance.calls(code, task.entry, task.args, unsigned);
    case 'session':
      return instance.session(code, unsigned);
    case 'serve':
      return instance.serve(code, unsigned);
    case 'tests':
      return instance.tests(task.tests);
    case undefined:
    default:
      return instance.run(code, unsigned);
  }
}

interface Served {
  realm: BareRealm;
  instance: Instance;
  settings: InstanceSettings;
}

function resultOf({ realm, instance, settings }: Served, request: WorkerRequest): WorkerMessage {
  try {
    prepare(realm, instance, request);
  } catch (thrown) {
    return { kind: 'refused', message: filesProblemText(thrown, settings), atMs: steadyMs() };
  }
  try {
    const value = execute(instance, request);
    const atMs = steadyMs();
    if (typeof value === 'number') return { kind: 'done', value, atMs };
    return { kind: 'crashed', message: 'the harness was broken', atMs };
  } catch (thrown) {
    return { kind: 'crashed', message: thrownText(thrown), atMs: steadyMs() };
  }
}

function serve(served: Served): void {
  parentPort?.on('message', (request: WorkerRequest) => {
    tell(resultOf(served, request));
    if (request.task?.kind === 'session') return;
    let whole = false;
    try {
      whole = served.instance.restore();
    } finally {
      tell({ kind: 'restored', whole });
    }
  });
}

async function main({ instance: settings, ...parts }: WorkerSettings): Promise<void> {
  try {
    const realm = new BareRealm();
    const instance = await realm.instantiate(parts, settings);
    realm.prelude.closeTimers();
    serve({ realm, instance, settings });
    // Loading leaves the engine some 200 ms of work, which no program's time shall be charged with.
    setImmediate(() => tell({ kind: 'ready', shared: instance.shared }));
  } catch (thrown) {
    tell({ kind: 'failed', message: thrownText(thrown) });
  }
}

await main(workerData as WorkerSettings);
