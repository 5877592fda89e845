/** Program of a worker thread: one pyodide in a bare realm, one run at a time. */
import { parentPort, workerData } from 'node:worker_threads';

import { BareRealm } from './bare-realm.ts';
import type { Instance } from './bare-realm.ts';
import type { ChildRequest, WorkerMessage, WorkerSettings } from './protocol.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const tell = (message: WorkerMessage): void => parentPort?.postMessage(message);

/** The message of what crossed from the realm, which may be anything at all. */
function textOf(thrown: unknown): string {
  try {
    const message =
      typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, 'message') : thrown;
    return String(message).slice(-600);
  } catch {
    return 'something that cannot be shown';
  }
}

function execute(realm: BareRealm, instance: Instance, request: ChildRequest): unknown {
  const { code, stdin, seed, memoryBytes, call } = request;
  realm.prelude.seed(seed);
  instance.setInput(realm.bufferOf(Buffer.from(stdin, 'utf8')));
  instance.setMemory(memoryBytes);
  instance.begin();
  return call ? instance.calls(code, call.entry, call.args, seed) : instance.run(code, seed);
}

function serve(realm: BareRealm, instance: Instance): void {
  parentPort?.on('message', (request: ChildRequest) => {
    try {
      const value = execute(realm, instance, request);
      const plain = typeof value === 'number' || typeof value === 'string';
      tell(
        plain ? { kind: 'done', value } : { kind: 'crashed', message: 'the harness was broken' },
      );
    } catch (thrown) {
      tell({ kind: 'crashed', message: textOf(thrown) });
    }
    let whole = false;
    try {
      whole = instance.restore();
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
    serve(realm, instance);
    tell({ kind: 'ready', shared: instance.shared });
  } catch (thrown) {
    tell({ kind: 'failed', message: textOf(thrown) });
  }
}

await main(workerData as WorkerSettings);
