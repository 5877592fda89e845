import { register } from 'node:module';

import type { GenerationRequest } from '../core/services/generator.ts';
import type { Learner } from '../core/services/learner.ts';
import { serveRpc } from '../threads/rpc.ts';
import type { EngineServiceOptions } from './engine-options.ts';
import { EngineService } from './engine-service.ts';

/*
 * Entry of the engine thread.
 */

export type EngineMethods = ReturnType<typeof methodsOf>;

type Args<Name extends keyof Learner> = Parameters<Learner[Name]>;

const methodsOf = (service: EngineService) => {
  const { generator, learner } = service;
  return {
    maxContextTokens: () => generator.maxContextTokens,
    generate: ([request]: [GenerationRequest], signal: AbortSignal) =>
      service.generate(request, signal),
    release: ([episode]: [string]) => generator.release(episode),
    forward: (args: Args<'forward'>) => learner.forward(...args),
    forwardBackward: (args: Args<'forwardBackward'>) => learner.forwardBackward(...args),
    optimStep: (args: Args<'optimStep'>) => learner.optimStep(...args),
    saveState: (args: Args<'saveState'>) => learner.saveState(...args),
    loadState: (args: Args<'loadState'>) => learner.loadState(...args),
    publishWeights: () => learner.publishWeights(),
    info: () => service.info(),
    close: () => service.close(),
  };
};

await serveRpc(async (options: EngineServiceOptions) => {
  for (const { url, data } of options.hooks ?? []) register(url, { data });
  return methodsOf(await EngineService.open(options));
});
