import { AgentRlError, messageOf } from '../core/errors.ts';
import type { Generator } from '../core/services/generator.ts';
import type { ListingLearner } from '../core/services/learner.ts';
import type { Scorer } from '../core/services/scorer.ts';
import { sum } from '../algorithms/statistics.ts';
import { keepFullFloat32 } from '../engine/full-float32.ts';
import { publishedWhileDrawing } from '../generation/published-while-drawing.ts';
import { RpcClient } from '../threads/rpc.ts';
import { moduleBeside } from '../threads/thread.ts';
import { DecoderThreads, sideBySide, SpreadSampler } from './decoder-threads.ts';
import { decodingThreads, rowsOfThread } from './decoding-threads.ts';
import { memorySettings, type EngineInfo, type EngineServiceOptions } from './engine-options.ts';
import type { EngineMethods } from './engine-worker.ts';

type EngineThread = RpcClient<EngineMethods>;
/** What is drawn from is scored by the learner. */
type EngineGenerator = Required<Omit<Generator, keyof Scorer>>;

/**
 * The engine thread seen from the main thread: a `Learner` and a `Generator`, which share its weights. They end with it.
 *
 * Running a program blocks its thread, so it has one of its own while environments, tools and input and output
 * stay here.
 */
export class EngineClient {
  readonly generator: EngineGenerator;
  readonly learner: ListingLearner;

  private constructor(
    private readonly thread: EngineThread,
    private readonly beside: DecoderThreads | undefined,
    { rows, decoders = 1, overlaps = false }: EngineServiceOptions,
  ) {
    const totals = async () => (await this.info()).totals;
    const own = { ...generatorOf(thread), totals };
    const spread = { thread, rows: rowsOfThread(rows, decoders - Number(overlaps)), overlaps };
    this.generator = beside === undefined ? own : spreadOver(own, { beside, ...spread });
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
          `The engine thread exited (${messageOf(cause)}). If memory ran out, lower ${memorySettings(options)}.`,
          { cause },
        ),
    });
    try {
      return new EngineClient(thread, await openBeside(thread, options), options);
    } catch (thrown) {
      await thread.close();
      throw thrown;
    }
  }

  async info(): Promise<EngineInfo> {
    const info = await this.thread.call('info', []);
    if (this.beside === undefined) return info;
    const beside = await this.beside.info();
    return {
      ...info,
      decoders: info.decoders + beside.length,
      totals: sideBySide([info.totals, ...beside.map(({ totals }) => totals)]),
      cacheBytes: sum([info.cacheBytes, ...beside.map(({ cacheBytes }) => cacheBytes)]),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.thread.close(), this.beside?.close()]);
  }
}

/** The threads that draw beside the engine's own, with the weights it draws from. */
async function openBeside(
  thread: EngineThread,
  options: EngineServiceOptions,
): Promise<DecoderThreads | undefined> {
  const { device, threads, rows, maxContextTokens, decoders = 1, overlaps = false } = options;
  if (decoders === 1) return undefined;
  const { config, packs, ...weights } = await thread.call('share', []);
  const beside = await DecoderThreads.open(decoders - 1, {
    config,
    device,
    threads: decodingThreads(config) ?? threads,
    rows: rowsOfThread(rows, decoders - Number(overlaps)),
    maxContextTokens,
    packs,
    memorySettings: memorySettings(options),
  });
  await beside.use(weights);
  return beside;
}

/** The engine's own generator and the threads beside it as one. */
function spreadOver(
  own: EngineGenerator,
  {
    beside,
    thread,
    rows,
    overlaps,
  }: { beside: DecoderThreads; thread: EngineThread; rows: number; overlaps: boolean },
): EngineGenerator {
  // A thread that learns would let its rows wait.
  const sampler = new SpreadSampler([...(overlaps ? [] : [own]), ...beside.samplers], rows);
  return {
    ...own,
    generate: (request, signal) => sampler.generate(request, signal),
    release: (episode) => sampler.release(episode),
    use: async (weights, signal) => {
      // Otherwise some might take them, and others refuse.
      if (sampler.drawing > 0) throw publishedWhileDrawing();
      await own.use(weights, signal);
      await beside.use(await thread.call('share', []));
    },
  };
}

const generatorOf = (thread: EngineThread): Omit<EngineGenerator, 'totals'> => ({
  describe: () => thread.call('describeGenerator', []),
  generate: (request, signal) => thread.call('generate', [request], signal),
  release: (episode) => thread.release(episode),
  use: (weights, signal) => thread.call('use', [weights], signal),
  close: async () => undefined,
});

const learnerOf = (thread: EngineThread): ListingLearner => ({
  describe: () => thread.call('describeLearner', []),
  forward: (...args) => thread.call('forward', args),
  forwardTop: (...args) => thread.call('forwardTop', args),
  forwardBackward: (...args) => thread.call('forwardBackward', args),
  discardGradients: () => thread.call('discardGradients', []),
  optimStep: (...args) => thread.call('optimStep', args),
  saveState: (...args) => thread.call('saveState', args),
  loadState: (...args) => thread.call('loadState', args),
  weightsSha256: () => thread.call('weightsSha256', []),
  keepPublished: (...args) => thread.call('keepPublished', args),
  exportWeights: (...args) => thread.call('exportWeights', args),
  close: async () => undefined,
});
