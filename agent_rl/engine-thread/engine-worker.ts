import { parentPort, workerData, type MessagePort } from 'node:worker_threads';

import type { Learner, OptimStepOptions } from '../core/services/learner.ts';
import { toSentError } from '../core/sent-error.ts';
import type { EngineCall } from './engine-messages.ts';
import { EngineService, type EngineServiceOptions } from './engine-service.ts';

type Method = (...args: never[]) => unknown;

/** The engine thread: opens the service, then answers calls until it is told to close. */
async function serve(port: MessagePort, options: EngineServiceOptions): Promise<void> {
  const service = await EngineService.open(options);
  const inFlight = new Map<number, AbortController>();
  const { learner } = service;
  const methods: Readonly<Record<string, Method>> = {
    forward: (...args: Parameters<Learner['forward']>) => learner.forward(...args),
    forwardBackward: (...args: Parameters<Learner['forwardBackward']>) =>
      learner.forwardBackward(...args),
    optimStep: (step: OptimStepOptions) => learner.optimStep(step),
    saveState: (folder: string) => learner.saveState(folder),
    loadState: (folder: string) => learner.loadState(folder),
    publishWeights: () => learner.publishWeights(),
    release: (episode: string) => service.release(episode),
    info: () => service.info(),
    close: () => service.close(),
  };

  const generate = (id: number, args: readonly unknown[]): Promise<unknown> => {
    const abort = new AbortController();
    inFlight.set(id, abort);
    const request = args[0] as Parameters<EngineService['generate']>[0];
    return service.generate(request, abort.signal).finally(() => inFlight.delete(id));
  };

  port.on('message', async (call: EngineCall) => {
    if ('abort' in call) {
      inFlight.get(call.abort)?.abort();
      return;
    }
    const { id, method, args } = call;
    try {
      const value =
        method === 'generate'
          ? await generate(id, args)
          : await methods[method]?.(...(args as never[]));
      port.postMessage({ id, value });
    } catch (thrown) {
      port.postMessage({ id, error: toSentError(thrown) });
    }
    if (method === 'close') port.close();
  });
  port.postMessage({ id: 0, value: { maxContextTokens: service.maxContextTokens } });
}

if (parentPort !== null) {
  const port = parentPort;
  try {
    await serve(port, workerData as EngineServiceOptions);
  } catch (thrown) {
    port.postMessage({ id: 0, error: toSentError(thrown) });
    port.close();
  }
}
