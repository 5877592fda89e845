import type { Worker } from 'node:worker_threads';

/**
 * The next message of a thread.
 *
 * @throws What the thread did not catch, or an error that says it ended without a message.
 */
export async function nextMessage<Message>(worker: Worker): Promise<Message> {
  return new Promise((resolve, reject) => {
    // An error is followed by an exit; no listener may outlive this answer.
    const settle =
      <Value>(finish: (value: Value) => void) =>
      (value: Value): void => {
        worker.off('message', answered).off('error', failed).off('exit', exited);
        finish(value);
      };
    const answered = settle<Message>(resolve);
    const failed = settle<Error>(reject);
    const exited = settle<number>((code) =>
      reject(new Error(`its thread exited with code ${code}`)),
    );
    worker.once('message', answered).once('error', failed).once('exit', exited);
  });
}
