import ort, { type InferenceSession } from 'onnxruntime-node';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { spanned, threadTrack } from '../../core/profile/spans.ts';
import { checkTensorData } from '../check-inputs.ts';
import { type TensorData, type TensorSpec, wantedOf } from '../engine.ts';
import { outputLabel } from './encode-model.ts';

/** An input of a session: an array under its name, with its shape. */
export interface Feed extends Pick<TensorSpec, 'name' | 'shape'> {
  dtype: TensorSpec['dtype'] | 'int64';
  data: TensorData | BigInt64Array;
}

const checkOutput = (spec: TensorSpec, data: ort.Tensor['data']): TensorData => {
  if (data instanceof Float32Array || data instanceof Int32Array)
    return checkTensorData(spec, data);
  throw new AgentRlError('ENGINE_FAILED', `Output "${spec.name}" is not an array of numbers.`);
};

const outOfMemory = /alloc|memory/i;

/** A compiled graph of ONNX Runtime. */
export class OnnxSession {
  readonly #running = new Set<Promise<unknown>>();
  #disposed = false;

  constructor(
    private readonly session: InferenceSession,
    /** Settings or flags that lower what programs hold at once, for the message when memory runs out. */
    private readonly memorySettings: string | undefined,
    private readonly onDispose: (session: OnnxSession) => void,
  ) {}

  /** The outputs that are wanted; all by default. */
  async run(
    feeds: readonly Feed[],
    {
      outputs,
      wanted,
      name,
    }: { outputs: readonly TensorSpec[]; wanted: readonly string[] | undefined; name: string },
  ): Promise<Record<string, TensorData>> {
    const tensors = feeds.map(
      (feed) => [feed.name, new ort.Tensor(feed.dtype, feed.data, feed.shape)] as const,
    );
    const fetches = wantedOf(outputs, wanted);
    const labels = fetches.map((output) => outputLabel(output.name));
    const fetched = await this.#execute(() =>
      spanned({ track: threadTrack(), name }, () =>
        this.session.run(Object.fromEntries(tensors), labels),
      ),
    );
    const checked = (spec: TensorSpec): [string, TensorData] => [
      spec.name,
      checkOutput(spec, fetched[outputLabel(spec.name)]!.data),
    ];
    return Object.fromEntries(fetches.map(checked));
  }

  /** @throws AgentRlError `ENGINE_FAILED` where the session was disposed */
  assertOpen(): void {
    if (!this.#disposed) return;
    throw new AgentRlError(
      'ENGINE_FAILED',
      'The program was run after it was disposed; compile it again.',
    );
  }

  async #execute(
    run: () => Promise<InferenceSession.ReturnType>,
  ): Promise<InferenceSession.ReturnType> {
    const running = run();
    this.#running.add(running);
    try {
      return await running;
    } catch (cause) {
      const problem = messageOf(cause);
      const { memorySettings } = this;
      const remedy = memorySettings === undefined ? '' : `: lower ${memorySettings}`;
      const hint = outOfMemory.test(problem) ? `. Memory ran out${remedy}.` : '';
      throw new AgentRlError('ENGINE_FAILED', `The device failed: ${problem}${hint}`, { cause });
    } finally {
      this.#running.delete(running);
    }
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    this.onDispose(this);
    // The session may not be released under a run: a cache can evict a program that is still working.
    await Promise.allSettled(this.#running);
    await this.session.release();
  }
}
