import { AgentRlError } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import {
  EndlessAnswer,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  NoAnswer,
} from '../../http/http-client.ts';
import { visibleControls } from '../../telemetry/index.ts';
import { FairQueue } from '../../sandbox/layers/take-turns.ts';
import { AskAgain, OtherWeights, ServerGone, UnusableAnswer } from './server-failures.ts';

export interface RemoteServerOptions {
  url: string;
  http: HttpClient;
  /** Requests that it is asked at once; the others wait here, in the order they came. */
  requestsAtOnce: number;
  /** Its name of the model that is drawn from. */
  model: string;
  /** Its name of the weights; absent where it has none. */
  weights?: string;
}

/** One server of a generator: what is known of it, and requests to it with their kinds of failure. */
export class RemoteServer {
  readonly url: string;
  /** Why it is asked for nothing at present. */
  problem: string | undefined;
  model: string;
  weights: string | undefined;
  /** Its names of the newest adapters, by their versions; empty where it has whole models. */
  readonly adapters = new Map<number, string>();
  /** Requests that wait for it or are under way. */
  load = 0;
  readonly #http: HttpClient;
  readonly #turns: FairQueue;

  constructor({ url, http, requestsAtOnce, model, weights }: RemoteServerOptions) {
    this.url = url;
    this.model = model;
    this.weights = weights;
    this.#http = http;
    this.#turns = new FairQueue(requestsAtOnce);
  }

  /** @throws ServerGone when it went away before the turn came; the signal's reason; what the work throws */
  async inTurn<Result>(
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    this.load += 1;
    try {
      return await this.#turns.run('', signal, () => {
        if (this.problem !== undefined) throw new ServerGone(this.problem);
        return work();
      });
    } finally {
      this.load -= 1;
    }
  }

  /** Its name of the model with these weights. @throws OtherWeights when it was not given them */
  modelOf(version: number | undefined): string {
    if (version === undefined || this.adapters.size === 0) return this.model;
    const name = this.adapters.get(version);
    if (name === undefined)
      throw new OtherWeights(`${this.url} has no adapter with version ${version} of the weights.`);
    return name;
  }

  /**
   * The answer to a request that is made once.
   *
   * @throws ServerGone, AskAgain, UnusableAnswer; AgentRlError `CONFIG_INVALID` for what it refuses; the signal's reason
   */
  async ask(request: Omit<HttpRequest, 'again'>, signal?: AbortSignal): Promise<unknown> {
    return this.accepted(request.path, await this.send(request, signal));
  }

  /** What a good answer says. @throws AskAgain; AgentRlError `CONFIG_INVALID` for what it refuses */
  accepted(path: string, answer: HttpAnswer): unknown {
    const { status, json } = answer;
    if (status === 200) return json;
    const said = this.said(path, answer);
    if (status >= 500 || status === 429 || status === 408) throw new AskAgain(said);
    const advice =
      status === 401 || status === 403
        ? 'Set generator.apiKeyEnv to the environment variable that holds its key.'
        : "The server does not accept this run's requests, so a retry would not help.";
    throw new AgentRlError('CONFIG_INVALID', `generator.urls: ${said} ${advice}`);
  }

  said(path: string, answer: HttpAnswer): string {
    return `${this.url}${path} answered ${answer.status}: ${wordsOf(answer).replace(/\.+$/, '')}.`;
  }

  /** The same with any status. @throws ServerGone, UnusableAnswer; the signal's reason */
  async send(request: Omit<HttpRequest, 'again'>, signal?: AbortSignal): Promise<HttpAnswer> {
    const asked = performance.now();
    try {
      return await this.#http.send({ ...request, again: false }, signal);
    } catch (thrown) {
      if (!(thrown instanceof NoAnswer)) throw thrown;
      if (thrown instanceof EndlessAnswer)
        throw new UnusableAnswer(`${thrown.message}.`, { cause: thrown });
      const late = performance.now() - asked >= 1000 * request.deadlineS;
      throw new ServerGone(`${thrown.message}.`, late, { cause: thrown });
    }
  }

  async close(): Promise<void> {
    await this.#http.close();
  }
}

/** Most of an answer that a message shows. */
const shown = 300;

/** The message of an error, where servers put it. */
export function wordsOf({ json, text }: Pick<HttpAnswer, 'json' | 'text'>): string {
  const error = isRecord(json) ? (json['error'] ?? json['detail']) : undefined;
  const message = isRecord(error) ? error['message'] : error;
  return visibleControls((typeof message === 'string' ? message : text).slice(0, shown));
}
