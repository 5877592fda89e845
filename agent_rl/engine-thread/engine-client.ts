import { AgentRlError, messageOf } from '../core/errors.ts';
import type { Generation, GenerationRequest, Generator } from '../core/services/generator.ts';
import type { Learner } from '../core/services/learner.ts';
import { keepFullFloat32 } from '../engine/full-float32.ts';
import { RpcClient } from '../threads/rpc.ts';
import { moduleBeside } from '../threads/thread.ts';
import { memorySettings, type EngineInfo, type EngineServiceOptions } from './engine-options.ts';
import type { EngineMethods } from './engine-worker.ts';

/**
 * The engine thread seen from the main thread: a `Learner` and a `Generator`.
 *
 * Running a program blocks its thread, so it has one of its own while environments, tools and input and output
 * stay here.
 */
export class EngineClient implements Learner, Generator {
  private constructor(
    private readonly thread: RpcClient<EngineMethods>,
    readonly maxContextTokens: number,
  ) {}

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
    return new EngineClient(thread, await thread.call('maxContextTokens', []));
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    return this.thread.call('generate', [request], signal);
  }

  release(episode: string): void {
    this.thread.release(episode);
  }

  forward(...args: Parameters<Learner['forward']>) {
    return this.thread.call('forward', args);
  }

  forwardBackward(...args: Parameters<Learner['forwardBackward']>) {
    return this.thread.call('forwardBackward', args);
  }

  optimStep(...args: Parameters<Learner['optimStep']>) {
    return this.thread.call('optimStep', args);
  }

  saveState(folder: string) {
    return this.thread.call('saveState', [folder]);
  }

  loadState(folder: string) {
    return this.thread.call('loadState', [folder]);
  }

  publishWeights() {
    return this.thread.call('publishWeights', []);
  }

  info(): Promise<EngineInfo> {
    return this.thread.call('info', []);
  }

  close(): Promise<void> {
    return this.thread.close();
  }
}
