import { isRecord } from '../../core/is-record.ts';
import { type HttpAnswer, type HttpClient, NoAnswer } from '../../http/http-client.ts';
import { codeOf, type MlflowRun, partOf, refusalText, runOf, textOf } from './mlflow-answers.ts';

export interface MlflowMetric {
  key: string;
  /** JSON has no NaN and no infinities. */
  value: number | 'NaN' | 'Infinity' | '-Infinity';
  /** Milliseconds since 1970. */
  timestamp: number;
  step: number;
}

export interface MlflowText {
  key: string;
  value: string;
}

/** What one request may hold. */
const most = { metrics: 1000, params: 100 } as const;
/** The event's deadline comes before. */
const deadlineS = 3600;
const api = '/api/2.0/mlflow';

/** MLflow's REST API, https://mlflow.org/docs/latest/rest-api.html. Everything throws an error that says what to do. */
export class MlflowClient {
  constructor(
    private readonly http: HttpClient,
    private readonly url: string,
  ) {}

  /** The experiment of a name, made if need be. @returns its id */
  async experiment(name: string, signal: AbortSignal): Promise<string> {
    const found = await this.#experimentNamed(name, signal);
    if (found !== undefined) return found;
    const path = '/experiments/create';
    const made = await this.#send({ method: 'POST', path, body: { name }, again: false }, signal);
    if (made.status === 200) return textOf(made.json, 'experiment_id');
    // Another client made it meanwhile.
    const theirs = codeOf(made) === 'RESOURCE_ALREADY_EXISTS';
    const id = theirs ? await this.#experimentNamed(name, signal) : undefined;
    if (id === undefined) throw this.#refusal('POST', path, made);
    return id;
  }

  async #experimentNamed(name: string, signal: AbortSignal): Promise<string | undefined> {
    const path = `/experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`;
    const answer = await this.#send({ method: 'GET', path, again: true }, signal);
    if (codeOf(answer) === 'RESOURCE_DOES_NOT_EXIST') return undefined;
    if (answer.status !== 200) throw this.#refusal('GET', path, answer);
    const experiment = partOf(answer.json, 'experiment');
    if (experiment['lifecycle_stage'] === 'deleted')
      throw new Error(
        `MLflow at ${this.url} has deleted the experiment ${JSON.stringify(name)}. Restore it, or set experiment to another name`,
      );
    return textOf(experiment, 'experiment_id');
  }

  /** A run by its id; undefined where it does not exist. */
  async run(id: string, signal: AbortSignal): Promise<MlflowRun | undefined> {
    const path = `/runs/get?run_id=${encodeURIComponent(id)}`;
    const answer = await this.#send({ method: 'GET', path, again: true }, signal);
    if (codeOf(answer) === 'RESOURCE_DOES_NOT_EXIST') return undefined;
    if (answer.status !== 200) throw this.#refusal('GET', path, answer);
    return runOf(partOf(answer.json, 'run'));
  }

  /** The run of an experiment that has this tag; undefined where it does not exist. */
  async runTagged(experiment: string, tag: MlflowText, signal: AbortSignal) {
    const filter = `tags.\`${tag.key}\` = '${tag.value}'`;
    const body = { experiment_ids: [experiment], filter, max_results: 1 };
    const { runs } = await this.#ask('/runs/search', body, { again: true, signal });
    const [first] = Array.isArray(runs) ? (runs as unknown[]) : [];
    return isRecord(first) ? runOf(first) : undefined;
  }

  async create(
    given: { experiment: string; name: string; time: number; tags: readonly MlflowText[] },
    signal: AbortSignal,
  ): Promise<MlflowRun> {
    const { experiment: experiment_id, name: run_name, time: start_time, tags } = given;
    const body = { experiment_id, run_name, start_time, tags };
    // Made twice it would be two runs.
    const made = await this.#ask('/runs/create', body, { again: false, signal });
    return runOf(partOf(made, 'run'));
  }

  /** Adds to a run, in as many requests as it takes. The same twice is the same once. */
  async log(
    run: MlflowRun,
    { metrics = [], params = [], tags = [] }: Logged,
    signal: AbortSignal,
  ): Promise<void> {
    const bodies = [
      ...slices(metrics, most.metrics).map((slice) => ({ metrics: slice })),
      ...slices(params, most.params).map((slice) => ({ params: slice })),
      ...slices(tags, most.params).map((slice) => ({ tags: slice })),
    ];
    for (const body of bodies)
      await this.#ask('/runs/log-batch', { run_id: run.id, ...body }, { again: true, signal });
  }

  async update(
    run: MlflowRun,
    state: { status: 'RUNNING' | 'FINISHED' | 'KILLED' | 'FAILED'; end_time?: number },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#ask('/runs/update', { run_id: run.id, ...state }, { again: true, signal });
  }

  /** Puts a file among a run's artifacts. */
  async upload(run: MlflowRun, file: { name: string; text: string }, signal: AbortSignal) {
    const { artifacts } = run;
    if (artifacts === undefined)
      throw new Error(
        `MLflow at ${this.url} does not accept artifacts over HTTP. Start it with --artifacts-destination, or set artifacts: false`,
      );
    const path = `/api/2.0/mlflow-artifacts/artifacts/${artifacts}/${file.name}`;
    const request = { method: 'PUT', path, raw: file.text, again: true } as const;
    const answer = await this.#request(request, signal);
    if (answer.status !== 200) throw this.#refusal('PUT', path, answer);
  }

  close(): Promise<void> {
    return this.http.close();
  }

  async #ask(
    path: string,
    body: object,
    { again, signal }: { again: boolean; signal: AbortSignal },
  ): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#send({ method: 'POST', path, body, again }, signal);
    if (answer.status === 200 && isRecord(answer.json)) return answer.json;
    throw this.#refusal('POST', path, answer);
  }

  #send(request: Omit<Sent, 'raw'>, signal: AbortSignal): Promise<HttpAnswer> {
    return this.#request({ ...request, path: api + request.path }, signal);
  }

  async #request(request: Sent, signal: AbortSignal): Promise<HttpAnswer> {
    try {
      return await this.http.send({ ...request, deadlineS }, signal);
    } catch (thrown) {
      if (!(thrown instanceof NoAnswer)) throw thrown;
      throw new Error(
        `MLflow: ${thrown.message}. Start MLflow at that address (mlflow server), or set url to the address where MLflow runs`,
        { cause: thrown },
      );
    }
  }

  #refusal(method: string, path: string, answer: HttpAnswer): Error {
    const [place] = path.split('?');
    return new Error(
      `MLflow at ${this.url} answered ${answer.status} to ${method} ${place}: ${refusalText(answer)}`,
    );
  }
}

interface Logged {
  metrics?: readonly MlflowMetric[];
  params?: readonly MlflowText[];
  tags?: readonly MlflowText[];
}

interface Sent {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: unknown;
  raw?: string;
  again: boolean;
}

const slices = <Item>(items: readonly Item[], size: number): (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
