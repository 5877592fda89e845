import { AgentRlError, messageOf } from '../core/errors.ts';
import type { Generator } from '../core/services/generator.ts';
import type { Learner } from '../core/services/learner.ts';
import { keepFullFloat32 } from '../engine/full-float32.ts';
import { RpcClient } from '../threads/rpc.ts';
import { moduleBeside } from '../threads/thread.ts';
import { memorySettings, type EngineInfo, type EngineServiceOptions } from './engine-options.ts';
import type { EngineMethods } from './engine-worker.ts';

type EngineThread = RpcClient<EngineMethods>;

/**
 * The engine thread seen from the main thread: a `Learner` and a `Generator`, which share its weights. They end with it.
 *
 * Running a program blocks its thread, so it has one of its own while environments, tools and input and output
 * stay here.
 */
export class EngineClient {
  readonly generator: Required<Generator>;
  readonly learner: Learner;

  private constructor(private readonly thread: EngineThread) {
    this.generator = generatorOf(thread);
    this.learner = learnerOf(thread);
  }

  /** @throws AgentRlError of whatever kept the engine or the model from opening. */
  static async open(options: EngineServiceOptions): Promise<EngineClient> {
    keepFullFloat32(options.device);
    const entry = moduleBeside(import.meta.url, 'engine-worker');
    const thread = await RpcClient.open<EngineMethods>({
      entry,
      data: options,
      ended: (cause) =>
        new AgentRlError(
          'ENGINE_FAILED',
          `The engine thread ended (${messageOf(cause)}). If memory ran out, lower ${memorySettings(options)}.`,
          { cause },
        ),
    });
    return new EngineClient(thread);
  }

  info(): Promise<EngineInfo> {
    return this.thread.call('info', []);
  }

  close(): Promise<void> {
    return this.thread.close();
  }
}

const generatorOf = (thread: EngineThread): Required<Generator> => ({
  describe: () => thread.call('describeGenerator', []),
  generate: (request, signal) => thread.call('generate', [request], signal),
  release: (episode) => thread.release(episode),
  use: (weights, signal) => thread.call('use', [weights], signal),
  totals: async () => (await thread.call('info', [])).totals,
  close: async () => undefined,
});

const learnerOf = (thread: EngineThread): Learner => ({
  describe: () => thread.call('describeLearner', []),
  forward: (...args) => thread.call('forward', args),
  forwardBackward: (...args) => thread.call('forwardBackward', args),
  discardGradients: () => thread.call('discardGradients', []),
  optimStep: (...args) => thread.call('optimStep', args),
  saveState: (...args) => thread.call('saveState', args),
  loadState: (...args) => thread.call('loadState', args),
  exportWeights: (...args) => thread.call('exportWeights', args),
  close: async () => undefined,
});
