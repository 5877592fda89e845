import { AgentRlError, messageOf } from '../../core/errors.ts';
import {
  type Generation,
  type GenerationRequest,
  type Generator,
  type GeneratorInfo,
  truncates,
  type Sampling,
} from '../../core/services/generator.ts';
import type { WeightRef } from '../../core/services/weights.ts';
import { readSampledSequences, type SampledSequence } from '../../tinker/messages.ts';
import { Lost } from '../../tinker/tinker-client.ts';
import { orClosed, TinkerSession } from '../../tinker/tinker-session.ts';
import { drawnInParts, tokensAtOnce } from '../remote/drawn-in-parts.ts';
import { generationProblem } from '../generation-problem.ts';
import { requestSeed } from '../request-seed.ts';
import { generator } from '../../core/plugins/model/generator.ts';
import { TinkerSettings } from '../../tinker/tinker-settings.ts';

export interface TinkerGeneratorOptions {
  session: TinkerSession;
  maxContextTokens: number;
  vocabSize: number;
}

/** What is drawn from: a sampling session of weights, or of the model itself. */
interface Drawing {
  samplingSession: string;
  version: number;
}

/** Samples at a Tinker service, from weights that a learner has left there. */
class TinkerGenerator implements Generator {
  #sessions = 0;
  #requests = 0;
  #drawing: Drawing;

  private constructor(
    private readonly options: TinkerGeneratorOptions,
    samplingSession: string,
  ) {
    this.#drawing = { samplingSession, version: 0 };
  }

  /** Draws from the model as it is, until it gets other weights. */
  static async open(
    options: TinkerGeneratorOptions,
    signal: AbortSignal,
  ): Promise<TinkerGenerator> {
    const from = { base_model: options.session.baseModel };
    return new TinkerGenerator(options, await beginSampling(options.session, { from, signal }, 0));
  }

  async describe(): Promise<GeneratorInfo> {
    const { session, maxContextTokens } = this.options;
    return {
      name: `tinker at ${session.client.url}`,
      maxContextTokens,
      // Other sampling at the same time may cause floating-point differences.
      reproducible: false,
      takes: ['service'],
      service: session.client.url,
    };
  }

  async use({ version, location }: WeightRef, signal?: AbortSignal): Promise<void> {
    this.#sessions += 1;
    const from = { model_path: location };
    const { session } = this.options;
    const id = await beginSampling(session, { from, signal }, this.#sessions).catch(
      (thrown: unknown) => {
        if (!(thrown instanceof Lost)) throw thrown;
        throw session.client.failure(`has lost the weights of step ${version}`, thrown);
      },
    );
    this.#drawing = { samplingSession: id, version };
  }

  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const { tokens, maxTokens, stopTokens } = request;
    const { version } = this.#drawing;
    const nothing = (stop: Generation['stop']): Generation => ({
      tokens: [],
      logProbs: [],
      stop,
      version,
    });
    const room = this.options.maxContextTokens - tokens.length;
    if (maxTokens <= 0) return nothing('max-tokens');
    if (room <= 0) return nothing('context-full');
    const isStopped = (part: Pick<Generation, 'tokens'>): boolean =>
      stopTokens.includes(part.tokens.at(-1) ?? -1);
    // A service may keep nothing of a context, and compute or charge for it again with each part.
    const atOnce = tokensAtOnce(this.options.session.client.deadlineS, Infinity);
    try {
      const drawn = await drawnInParts(
        { ...request, maxTokens: Math.min(maxTokens, room) },
        { atOnce, goesOn: (part: Pick<Generation, 'tokens' | 'logProbs'>) => !isStopped(part) },
        (part) => this.#sample(part, signal),
      );
      const ranOut = maxTokens > room ? 'context-full' : 'max-tokens';
      return { ...drawn, stop: isStopped(drawn) ? 'stop-token' : ranOut, version };
    } catch (thrown) {
      if (signal?.aborted === true) return nothing('aborted');
      throw thrown instanceof Lost ? this.options.session.client.failure(thrown.message) : thrown;
    }
  }

  /** The service keeps nothing for an episode. */
  release(): void {}

  async close(): Promise<void> {
    await this.options.session.close();
  }

  async #sample(
    request: GenerationRequest,
    signal?: AbortSignal,
  ): Promise<Pick<Generation, 'tokens' | 'logProbs'>> {
    const { session, maxContextTokens, vocabSize } = this.options;
    const { tokens, maxTokens: most, stopTokens, sampling, key } = request;
    requireAsked(sampling);
    const room = maxContextTokens - tokens.length;
    this.#requests += 1;
    const { bytes } = await session.client.result(
      {
        path: 'asample',
        body: {
          sampling_session_id: this.#drawing.samplingSession,
          seq_id: this.#requests,
          num_samples: 1,
          prompt: { chunks: [{ type: 'encoded_text', tokens }] },
          sampling_params: {
            max_tokens: Math.min(fewMaxima(most), room),
            seed: requestSeed(key),
            temperature: sampling.temperature,
            top_k: -1,
            top_p: 1,
            stop: stopTokens.length > 0 ? stopTokens : undefined,
          },
          type: 'sample',
        },
        again: true,
      },
      signal,
    );
    const drawn = firstOf(this.#read(bytes), most);
    const problem = generationProblem(
      { ...drawn, stop: 'max-tokens', version: 0 },
      { maxTokens: most, stopTokens, vocabSize },
    );
    const isShort = drawn.tokens.length < most && !stopTokens.includes(drawn.tokens.at(-1) ?? -1);
    if (problem === undefined && !isShort) return drawn;
    throw session.client.failure(
      `returned an invalid generation: ${problem ?? `it ends without a stop token after only ${drawn.tokens.length} of ${most} tokens`}`,
    );
  }

  #read(bytes: Buffer): SampledSequence {
    const { client } = this.options.session;
    try {
      const [sequence] = readSampledSequences(bytes);
      if (sequence !== undefined) return sequence;
    } catch (cause) {
      throw client.failure(`returned an unreadable answer to asample (${messageOf(cause)})`, cause);
    }
    throw client.failure('returned no sequence for a sampling request (asample)');
  }
}

async function beginSampling(
  { client, id }: TinkerSession,
  { from, signal }: { from: object; signal: AbortSignal | undefined },
  number: number,
): Promise<string> {
  const { sampling_session_id: made } = await client.ask(
    {
      method: 'POST',
      path: 'create_sampling_session',
      body: {
        session_id: id,
        sampling_session_seq_id: number,
        ...from,
        type: 'create_sampling_session',
      },
      again: true,
    },
    signal,
  );
  if (typeof made === 'string') return made;
  throw client.failure('returned no id for a new sampling session');
}

/** A service compiles each limit of tokens anew, so that few are asked for: what is drawn beyond the real one is left out. */
const fewMaxima = (tokens: number): number => 2 ** Math.ceil(Math.log2(Math.max(16, tokens)));

const firstOf = ({ tokens, logProbs }: SampledSequence, most: number) => ({
  tokens: Array.from(tokens.subarray(0, most)),
  logProbs: Array.from(logProbs?.subarray(0, most) ?? []),
});

/**
 * The service gives the log-probabilities of the model itself, so that only tokens drawn from it can be trained on.
 *
 * @throws AgentRlError `CONFIG_INVALID`
 */
function requireAsked(sampling: Sampling): void {
  const { temperature } = sampling;
  const isModels = temperature === 1 || temperature === 0;
  if (isModels && !truncates(sampling)) return;
  const what = isModels ? 'topK, topP or minP' : `temperature ${temperature}`;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The generator tinker cannot sample with ${what}: the service only returns the log-probabilities of the unmodified model. Use temperature 1, or 0 in evaluations (eval.temperature), and no truncation.`,
  );
}

/** Samples at a Tinker service. @throws AgentRlError `CONFIG_INVALID` for a service that does not suit the run */
export const tinkerGenerator = generator({
  name: 'tinker',
  description:
    'Samples on the Tinker service on which learner tinker trains, so the weights never leave the service. In an evaluation, it samples from the model of the service.',
  settings: TinkerSettings,
})(async (settings: TinkerSettings, host) => {
  const { environment, warn, signal, maxContextTokens, vocabSize, episodes } = host;
  for (const sampling of host.samplings) requireAsked(sampling);
  const user = { block: 'generator', code: 'GENERATION_FAILED', requests: episodes } as const;
  const session = await TinkerSession.open(settings, { ...user, environment, warn, signal });
  return orClosed('generator', session, () =>
    TinkerGenerator.open({ session, maxContextTokens, vocabSize }, signal),
  );
});
