import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import type {
  Generation,
  GenerationRequest,
  Generator,
  GeneratorInfo,
} from '../../core/services/generator.ts';
import { sha256Of } from '../../core/services/sha256-of.ts';
import type { WeightRef } from '../../core/services/weights.ts';
import {
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  NoAnswer,
  type Patience,
} from '../../http/http-client.ts';
import {
  drawnInParts,
  mostAnswerBytes,
  mostAtOnce,
  tokensAtOnce,
} from '../remote/drawn-in-parts.ts';
import { generationProblem } from '../generation-problem.ts';
import { filesOfWeights, otherWeights, paths, type ServerInfo, weightFile } from './protocol.ts';

export interface ServedGeneratorOptions extends Patience {
  http: HttpClient;
  /** For messages. */
  url: string;
  /** Of a part of a turn, waiting on the server included; of any other request. */
  deadlineS: number;
  info: ServerInfo;
}

/**
 * The generator of `agent-rl serve` in another process: it gives the tokens and log-probabilities of the same generator in
 * this one. A request that was lost is made again under its key, which draws the same tokens.
 */
export class ServedGenerator implements Generator {
  readonly #client = randomUUID();
  #weights: WeightRef | undefined;
  #sending: Promise<void> | undefined;

  constructor(private readonly options: ServedGeneratorOptions) {}

  async describe(): Promise<GeneratorInfo> {
    const { info, url } = this.options;
    return {
      name: `${info.name} at ${url}`,
      maxContextTokens: info.maxContextTokens,
      reproducible: true,
      takes: info.acceptsWeights ? ['folder'] : [],
    };
  }

  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const version = this.#weights?.version;
    // What draws the first part of a turn is to draw all of it.
    let drawnBy = version;
    const atOnce = tokensAtOnce(this.options.deadlineS, mostAtOnce);
    try {
      return await drawnInParts(request, { atOnce, goesOn: isUnfinished }, async (part) => {
        const drawn = await this.#draw(part, version, signal);
        const problem =
          generationProblem(drawn, { ...part, version: drawnBy }) ??
          shortProblem(drawn as Generation, part);
        if (problem !== undefined)
          throw failure(`its answer is not a valid generation: ${problem}.`);
        drawnBy = (drawn as Generation).version;
        return drawn as Generation;
      });
    } catch (thrown) {
      if (signal?.aborted !== true) throw thrown;
      return { tokens: [], logProbs: [], stop: 'aborted', version: version ?? 0 };
    }
  }

  release(episode: string): void {
    // The server forgets what is not asked for any more by itself.
    void this.#tell(paths.release, { episode });
  }

  /** @throws AgentRlError `GENERATION_FAILED` when the server does not take them */
  async use(weights: WeightRef, signal?: AbortSignal): Promise<void> {
    await this.#sendWeights(weights, signal);
    this.#weights = weights;
  }

  async close(): Promise<void> {
    await this.#tell(paths.leave);
    await this.options.http.close();
  }

  async #draw(
    request: GenerationRequest,
    version: number | undefined,
    signal?: AbortSignal,
  ): Promise<unknown> {
    let answer = await this.#generate(request, version, signal);
    if (answer.status === 409 && codeOf(answer) === otherWeights && this.#weights !== undefined) {
      await this.#sendAgain(this.#weights);
      answer = await this.#generate(request, version, signal);
    }
    return this.#accepted(answer);
  }

  #generate(request: GenerationRequest, version: number | undefined, signal?: AbortSignal) {
    const known = version === undefined ? {} : { version };
    const body = { client: this.#client, ...known, ...request };
    const asked = { body, mostAnswerBytes: mostAnswerBytes(request) };
    return this.#send({ method: 'POST', path: paths.generate, ...asked }, signal);
  }

  /** Once, whether it hears of it or not. */
  async #tell(path: string, what: object = {}): Promise<void> {
    const body = { client: this.#client, ...what };
    const request = { method: 'POST', path, body, deadlineS: tellS, again: false } as const;
    await this.options.http.send(request).catch(() => undefined);
  }

  /** To a server that was started anew; once, however many requests find that it lacks them and whichever of them end. */
  #sendAgain(weights: WeightRef): Promise<void> {
    if (this.#sending === undefined) {
      const { url, warn } = this.options;
      warn(
        `${url} no longer has the weights that the run sent, for example after a restart. Sending them again.`,
      );
      this.#sending = this.#sendWeights(weights).finally(() => {
        this.#sending = undefined;
      });
    }
    return this.#sending;
  }

  async #sendWeights({ version, location }: WeightRef, signal?: AbortSignal): Promise<void> {
    const files: Record<string, string> = {};
    const there = await readdir(location);
    for (const name of filesOfWeights.filter((one) => there.includes(one))) {
      const file = join(location, name);
      files[name] = await sha256Of([file]);
      const path = weightFile(this.#client, name);
      this.#accepted(await this.#send({ method: 'PUT', path, file }, signal));
    }
    const body = { client: this.#client, version, files };
    this.#accepted(await this.#send({ method: 'POST', path: paths.use, body }, signal));
  }

  async #send(
    request: Pick<HttpRequest, 'method' | 'path' | 'body' | 'file' | 'mostAnswerBytes'>,
    signal?: AbortSignal,
  ): Promise<HttpAnswer> {
    const { http, deadlineS } = this.options;
    try {
      return await http.sendPatiently({ ...request, deadlineS, again: true }, this.options, signal);
    } catch (thrown) {
      if (!(thrown instanceof NoAnswer)) throw thrown;
      throw failure(thrown.message, thrown);
    }
  }

  #accepted(answer: HttpAnswer): unknown {
    if (answer.status === 200) return answer.json;
    const said = messageIn(answer) ?? answer.text.slice(0, 200);
    throw failure(`${this.options.url} answered ${answer.status}: ${said}`);
  }
}

/** Timeout of background requests, in seconds. */
const tellS = 10;

const failure = (problem: string, cause?: unknown): AgentRlError =>
  new AgentRlError('GENERATION_FAILED', `The generator served: ${problem}`, { cause });

const isUnfinished = ({ stop }: Generation): boolean => stop === 'max-tokens';

/** The rest of a turn is asked for where there is a part: one without tokens would be asked for without end. */
const shortProblem = (
  { stop, tokens }: Generation,
  { maxTokens }: GenerationRequest,
): string | undefined =>
  stop === 'max-tokens' && tokens.length < maxTokens
    ? `it stopped with max-tokens after only ${tokens.length} of ${maxTokens} tokens`
    : undefined;

interface ErrorBody {
  error?: { message?: unknown; code?: unknown };
}

const messageIn = ({ json }: HttpAnswer): string | undefined => {
  const message = (json as ErrorBody | undefined)?.error?.message;
  return typeof message === 'string' ? message : undefined;
};

const codeOf = ({ json }: HttpAnswer): unknown => (json as ErrorBody | undefined)?.error?.code;
