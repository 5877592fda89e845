import { register } from 'node:module';

import type { GenerationRequest } from '../core/services/generator.ts';
import type { ListingLearner } from '../core/services/learner.ts';
import type { WeightRef } from '../core/services/weights.ts';
import { serveRpc } from '../threads/rpc.ts';
import type { EngineServiceOptions } from './engine-options.ts';
import { EngineService } from './engine-service.ts';

/*
 * Entry of the engine thread.
 */

export type EngineMethods = ReturnType<typeof methodsOf>;

type Args<Name extends keyof ListingLearner> = Parameters<Required<ListingLearner>[Name]>;

const methodsOf = (service: EngineService) => {
  const { generator, learner } = service;
  return {
    describeGenerator: () => service.describeGenerator(),
    describeLearner: () => service.describeLearner(),
    generate: ([request]: [GenerationRequest], signal: AbortSignal) =>
      service.generate(request, signal),
    release: ([episode]: [string]) => generator.release(episode),
    use: ([weights]: [WeightRef]) => service.use(weights),
    share: () => service.share(),
    forward: (args: Args<'forward'>) => learner.forward(...args),
    forwardTop: (args: Args<'forwardTop'>) => learner.forwardTop(...args),
    forwardBackward: (args: Args<'forwardBackward'>) => learner.forwardBackward(...args),
    discardGradients: () => learner.discardGradients(),
    optimStep: (args: Args<'optimStep'>) => learner.optimStep(...args),
    saveState: (args: Args<'saveState'>) => learner.saveState(...args),
    loadState: (args: Args<'loadState'>) => learner.loadState(...args),
    weightsSha256: () => learner.weightsSha256(),
    keepPublished: (args: Args<'keepPublished'>) => learner.keepPublished(...args),
    exportWeights: (args: Args<'exportWeights'>) => learner.exportWeights(...args),
    info: () => service.info(),
    close: () => service.close(),
  };
};

await serveRpc(async (options: EngineServiceOptions) => {
  for (const { url, data } of options.hooks ?? []) register(url, { data });
  return methodsOf(await EngineService.open(options));
});
