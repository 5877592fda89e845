import { AgentRlError, messageOf } from '../../core/errors.ts';
import type {
  Generation,
  GenerationRequest,
  Generator,
  GeneratorInfo,
  Sampling,
} from '../../core/services/generator.ts';
import type { TopScores } from '../../core/services/learner.ts';
import { noScores, type Scorer, type ScoreOptions } from '../../core/services/scorer.ts';
import type { WeightRef } from '../../core/services/weights.ts';
import { underSignals } from '../../core/stopping/abort.ts';
import { drawnInParts, mostAtOnce, tokensAtOnce } from './drawn-in-parts.ts';
import { askedOf, askForScores } from './ask-for-scores.ts';
import { askForTokens } from './ask-for-tokens.ts';
import { AskingAgain } from './asking-again.ts';
import type { RemoteServer } from './remote-server.ts';
import type { Draw } from './score-check.ts';
import { AskAgain, generationFailed, isPassing, OtherScores } from './server-failures.ts';
import { EpisodePool } from './episode-pool.ts';
import type { Drawn, ServerProtocol } from './server-protocol.ts';
import type { WeightShipping } from './weight-shipping.ts';

export interface RemoteGeneratorOptions {
  name: string;
  servers: readonly RemoteServer[];
  protocol: ServerProtocol;
  maxContextTokens: number;
  vocabSize: number;
  /** Seconds that an answer with a part of a turn may take, from when the server is asked. */
  deadlineS: number;
  /** Seconds that all servers may be out of reach, and that one may answer that it cannot now. */
  patienceS: number;
  /** Why tokens cannot be drawn like this with their log-probabilities, or undefined. */
  samplingProblem: (sampling: Sampling) => string | undefined;
  /** Takes weights to the servers; absent where theirs are fixed. */
  shipping?: WeightShipping | undefined;
  warn: (text: string) => void;
}

/**
 * Tokens from servers that others wrote. What a server answers is checked, asked for again where that may help, and never
 * returned under weights that it was not drawn from. An episode whose server dies goes on with another: its next request carries
 * its whole context.
 */
export class RemoteGenerator implements Generator {
  readonly #pool: EpisodePool;
  /** Servers that are back and do not score as the learner does. */
  readonly #doubted = new Set<RemoteServer>();
  #version = 0;
  #scored = 0;

  constructor(private readonly options: RemoteGeneratorOptions) {
    const { servers, protocol, patienceS, warn } = options;
    this.#pool = new EpisodePool({
      servers,
      healthPath: protocol.healthPath,
      patienceS,
      ready: (server) => this.#giveAgain(server),
      warn,
    });
  }

  async describe(): Promise<GeneratorInfo> {
    const { name, maxContextTokens, shipping } = this.options;
    const takes = shipping === undefined ? [] : (['folder'] as const);
    const { versionsAtOnce = 1 } = shipping ?? {};
    return { name, maxContextTokens, reproducible: false, takes, versionsAtOnce };
  }

  /** @throws AgentRlError `GENERATION_FAILED`; `CONFIG_INVALID` for what a server refuses */
  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const { maxContextTokens, samplingProblem, deadlineS, shipping } = this.options;
    const { versionsAtOnce = 1 } = shipping ?? {};
    const version = versionsAtOnce > 1 ? (request.version ?? this.#version) : this.#version;
    const room = Math.max(0, maxContextTokens - request.tokens.length);
    const ranOut = request.maxTokens > room ? 'context-full' : 'max-tokens';
    const maxTokens = Math.min(request.maxTokens, room);
    if (maxTokens === 0) return { tokens: [], logProbs: [], stop: ranOut, version };
    const problem = samplingProblem(request.sampling);
    if (problem !== undefined) throw new AgentRlError('CONFIG_INVALID', problem);
    try {
      const { tokens, logProbs, ended } = await drawnInParts(
        { ...request, maxTokens },
        // A text may end for a server where no turn of the run does.
        {
          atOnce: tokensAtOnce(deadlineS, mostAtOnce),
          goesOn: (part: Drawn) => part.ended !== 'stop',
        },
        (part) => this.#draw(part, signal),
      );
      return { tokens, logProbs, stop: ended === 'stop' ? 'stop-token' : ranOut, version };
    } catch (thrown) {
      if (signal?.aborted !== true) throw thrown;
      return { tokens: [], logProbs: [], stop: 'aborted', version };
    }
  }

  /** @throws as `scoreTop` */
  async score(...[tokens, options, signal]: Parameters<Scorer['score']>) {
    const scores = await this.scoreTop(tokens, { ...options, topK: 0 }, signal);
    return scores.map(({ logProbs }) => logProbs);
  }

  /**
   * All sequences at once, as many as the servers are asked for at a time; the first that fails ends the others.
   *
   * @throws AgentRlError `GENERATION_FAILED`; `CONFIG_INVALID` at another temperature than 1, and where servers cannot score
   */
  async scoreTop(
    tokens: readonly Int32Array[],
    { temperature, wanted, version, topK }: ScoreOptions & { topK: number },
    signal?: AbortSignal,
  ): Promise<readonly TopScores[]> {
    if (temperature !== 1)
      throw new AgentRlError(
        'CONFIG_INVALID',
        `Servers score given tokens at temperature 1, but ${temperature} was requested. Sample at temperature 1 (policy.sampling.temperature), or score with a model in a folder.`,
      );
    const { protocol, deadlineS } = this.options;
    const options = { way: protocol.scoring, topK, version, deadlineS };
    const failed = new AbortController();
    const score = async (all: Int32Array, index: number, either: AbortSignal) => {
      const asked = askedOf(all, wanted?.[index]);
      if (asked.tokens.length === 0) return noScores(all.length, topK);
      const episode = `scored ${this.#scored++}`;
      try {
        return await this.#asked(episode, either, (server) =>
          askForScores(server, asked, options, either),
        );
      } catch (thrown) {
        failed.abort(thrown);
        throw thrown;
      } finally {
        this.release(episode);
      }
    };
    return underSignals([signal, failed.signal], (either) =>
      Promise.all(tokens.map((all, index) => score(all, index, either))),
    );
  }

  release(episode: string): void {
    this.#pool.release(episode);
  }

  /** @throws AgentRlError `GENERATION_FAILED` when no server takes them */
  async use(weights: WeightRef, signal?: AbortSignal, scorer?: Scorer): Promise<void> {
    const { servers, shipping } = this.options;
    if (shipping === undefined) return;
    await shipping.prepare(weights, scorer);
    // A server that was given the weights before these is put back first, and given these now.
    await new Promise((resolve) => setImmediate(resolve));
    const failed: unknown[] = [];
    await Promise.all(
      servers.map(async (server) => {
        if (this.#pool.isWatched(server)) return;
        try {
          await shipping.load(server, this.#drawFrom(server), signal);
          this.#pool.putBack(server);
        } catch (thrown) {
          signal?.throwIfAborted();
          failed.push(thrown);
          if (isPassing(thrown)) this.#pool.takeOut(server, messageOf(thrown));
          else
            this.#pool.exclude(
              server,
              `${messageOf(thrown)} The run will try this server again with the next weights.`,
            );
        }
      }),
    );
    signal?.throwIfAborted();
    if (this.#pool.up.length === 0) {
      if (!servers.some((server) => this.#pool.isWatched(server)))
        throw generationFailed(
          `No server of the generator accepted version ${weights.version} of the weights: ${failed.map(messageOf).join(' ')}`,
          failed[0],
        );
      // A server that is back is given these weights before it is asked.
      await this.#pool.oneUp(signal);
    }
    this.#version = weights.version;
    await shipping.dropOlder();
  }

  async close(): Promise<void> {
    this.#pool.close();
    // It tells the servers what they can forget.
    await this.options.shipping?.close();
    await Promise.all(this.options.servers.map((server) => server.close()));
  }
  /** How each server is asked by itself, by its address. */
  draws(): ReadonlyMap<string, Draw> {
    return new Map(this.options.servers.map((server) => [server.url, this.#drawFrom(server)]));
  }

  #draw(request: GenerationRequest, signal: AbortSignal | undefined): Promise<Drawn> {
    return this.#asked(request.episode, signal, (server) =>
      askForTokens(server, request, this.options, signal),
    );
  }

  /** Asks the server of an episode, and again where that may help. */
  async #asked<Answer>(
    episode: string,
    signal: AbortSignal | undefined,
    ask: (server: RemoteServer) => Promise<Answer>,
  ): Promise<Answer> {
    const { patienceS, shipping, warn } = this.options;
    const pool = this.#pool;
    const again = new AskingAgain({ pool, patienceS, loads: shipping !== undefined, warn });
    for (;;) {
      const server = await pool.serverOf(episode, signal);
      try {
        return await server.inTurn(signal, () => ask(server));
      } catch (thrown) {
        await again.after(thrown, server, signal);
      }
    }
  }

  /**
   * Gives the weights in use to a server that is back. The learner may have taken a step since they were published, and then scores
   * otherwise than they do.
   */
  async #giveAgain(server: RemoteServer): Promise<void> {
    const { shipping, warn } = this.options;
    // It may have been started anew.
    server.adapters.clear();
    try {
      await shipping?.load(server, this.#drawFrom(server));
      this.#doubted.delete(server);
    } catch (thrown) {
      if (!(thrown instanceof OtherScores)) throw thrown;
      if (!this.#doubted.has(server))
        warn(
          `${messageOf(thrown)} The server is reachable again, but the learner may have changed its weights since it last published them. The run checks the server again every second and sends it the next weights.`,
        );
      this.#doubted.add(server);
      throw new AskAgain(messageOf(thrown), { cause: thrown });
    }
  }

  /** One server alone, once. */
  #drawFrom(server: RemoteServer): Draw {
    return (request, signal) => askForTokens(server, request, this.options, signal);
  }
}
