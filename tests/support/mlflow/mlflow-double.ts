import { type DoubleAnswer, type GotRequest, httpDouble, type HttpDouble } from '../http-double.ts';

/*
 * MLflow as far as the tracker asks it, in memory: tests/unit/agent_rl/trackers/mlflow/mlflow-tracker.slow.test.ts holds it to
 * what a real server answered.
 */

interface Metric {
  key: string;
  value: number | string;
  timestamp: number;
  step: number;
}

type Text = Record<'key' | 'value', string>;

/** A run as the double has it. */
export interface DoubleRun {
  info: Record<string, unknown>;
  metrics: Metric[];
  params: Map<string, string>;
  tags: Map<string, string>;
  artifacts: Map<string, string>;
}

export interface MlflowDouble extends HttpDouble {
  /** In the order they were made. */
  runs: readonly DoubleRun[];
  /** Answers this instead of its own as long as it is set; `'none'` never answers. */
  answerInstead: DoubleAnswer | 'none';
}

type Given = Readonly<Record<string, unknown>>;

/** What is thrown where the server refuses. */
const refused = (status: number, code: string, message: string) =>
  Object.assign(new Error(message), { status, code });
const invalid = (message: string) => refused(400, 'INVALID_PARAMETER_VALUE', message);
const missing = (message: string) => refused(404, 'RESOURCE_DOES_NOT_EXIST', message);

/** Starts one. @param proxied whether it takes artifacts over HTTP */
export async function mlflowDouble({ proxied = true } = {}): Promise<MlflowDouble> {
  const state = new State(proxied);
  const control: { answerInstead: DoubleAnswer | 'none' } = { answerInstead: undefined };
  const http = await httpDouble((request) => {
    const { answerInstead } = control;
    if (answerInstead === 'none') return undefined;
    return answerInstead ?? answered(state, request);
  });
  return Object.assign(control, http, { runs: state.runs });
}

function answered(state: State, request: GotRequest): DoubleAnswer {
  try {
    return { status: 200, json: state.answer(request) };
  } catch (thrown) {
    const { status, code, message } = thrown as ReturnType<typeof refused>;
    if (code === undefined) return { status: 404, json: 'no such page' };
    return { status, json: { error_code: code, message } };
  }
}

class State {
  readonly runs: DoubleRun[] = [];
  readonly #experiments: Record<string, string>[] = [];

  constructor(private readonly proxied: boolean) {}

  answer({ method, path, body, text }: GotRequest): unknown {
    const { pathname, searchParams } = new URL(path, 'http://double');
    const artifact = /^\/api\/2\.0\/mlflow-artifacts\/artifacts\/\d+\/(\w+)\/artifacts\/(.+)$/.exec(
      pathname,
    );
    if (method === 'PUT' && artifact !== null) {
      this.#run(artifact[1]).artifacts.set(artifact[2] ?? '', text);
      return '';
    }
    const given = { ...Object.fromEntries(searchParams), ...body };
    return this.#answers[`${method} ${pathname.replace('/api/2.0/mlflow', '')}`]!(given);
  }

  readonly #answers: Readonly<Record<string, (of: Given) => unknown>> = {
    'GET /experiments/get-by-name': ({ experiment_name: name }) => {
      const experiment = this.#experiments.find((one) => one['name'] === name);
      if (experiment !== undefined) return { experiment };
      throw missing(`Could not find experiment with name '${String(name)}'`);
    },
    'POST /experiments/create': ({ name }) => {
      if (this.#experiments.some((one) => one['name'] === name))
        throw refused(400, 'RESOURCE_ALREADY_EXISTS', `${String(name)} already exists.`);
      const experiment_id = String(this.#experiments.length + 1);
      this.#experiments.push({ experiment_id, name: String(name), lifecycle_stage: 'active' });
      return { experiment_id };
    },
    'POST /experiments/delete': ({ experiment_id }) => {
      for (const one of this.#experiments)
        if (one['experiment_id'] === experiment_id) one['lifecycle_stage'] = 'deleted';
      return {};
    },
    'POST /runs/create': (of) => ({ run: shown(this.#create(of)) }),
    'POST /runs/search': ({ filter }) => {
      const [, key = '', value] = /^tags\.`(.+)` = '(.+)'$/.exec(String(filter)) ?? [];
      const runs = this.runs.filter(({ tags }) => tags.get(key) === value).map(shown);
      return runs.length === 0 ? {} : { runs };
    },
    'POST /runs/log-batch': (of) => this.#log(of as unknown as Batch),
    'GET /runs/get': ({ run_id }) => ({ run: shown(this.#run(run_id)) }),
    'POST /runs/update': ({ run_id, ...state }) => ({
      run_info: Object.assign(this.#run(run_id).info, state),
    }),
    'POST /runs/delete': ({ run_id }) => {
      this.#run(run_id).info['lifecycle_stage'] = 'deleted';
      return {};
    },
    'GET /metrics/get-history': ({ run_id, metric_key }) => {
      const metrics = this.#run(run_id).metrics.filter(({ key }) => key === metric_key);
      return metrics.length === 0 ? {} : { metrics };
    },
    'GET /artifacts/list': ({ run_id }) => {
      const { info, artifacts } = this.#run(run_id);
      const files = [...artifacts].map(([path, { length }]) => {
        return { path, is_dir: false, file_size: length };
      });
      return { root_uri: info['artifact_uri'], files };
    },
  };

  #create({ experiment_id, run_name, start_time, tags = [] }: Given) {
    const experiment = this.#experiments.find((one) => one['experiment_id'] === experiment_id);
    if (experiment?.['lifecycle_stage'] !== 'active')
      throw invalid(`The experiment must be in the 'active' state.`);
    const run_id = `r${this.runs.length + 1}`;
    const root = this.proxied ? 'mlflow-artifacts:' : 's3://bucket';
    const artifact_uri = `${root}/${String(experiment_id)}/${run_id}/artifacts`;
    const state = { user_id: '', status: 'RUNNING', lifecycle_stage: 'active' };
    const run: DoubleRun = {
      info: {
        run_uuid: run_id,
        run_id,
        experiment_id,
        run_name,
        start_time,
        artifact_uri,
        ...state,
      },
      metrics: [],
      params: new Map(),
      tags: new Map((tags as Text[]).map(({ key, value }) => [key, value])),
      artifacts: new Map(),
    };
    run.tags.set('mlflow.runName', String(run_name));
    this.runs.push(run);
    return run;
  }

  #run(id: unknown): DoubleRun {
    const found = this.runs.find(({ info }) => info['run_id'] === id);
    if (found === undefined) throw missing(`Run with id=${String(id)} not found`);
    return found;
  }

  #log({ run_id, metrics = [], params = [], tags = [] }: Batch) {
    const run = this.#run(run_id);
    if (run.info['lifecycle_stage'] !== 'active') throw invalid('The run must be active.');
    if (metrics.length > 1000) throw invalid('at most 1000 metrics');
    if (params.length > 100 || tags.length > 100) throw invalid('at most 100');
    for (const { key } of [...metrics, ...params]) checkName(key);
    for (const { value } of metrics) if (value === null) throw invalid('Missing value');
    for (const { key, value } of params)
      if ((run.params.get(key) ?? value) !== value) throw invalid('Changing param values');
    for (const metric of metrics) {
      const one = { ...metric, value: stored(metric.value) };
      // The same a second time is there already.
      if (!run.metrics.some((other) => JSON.stringify(other) === JSON.stringify(one)))
        run.metrics.push(one);
    }
    for (const { key, value } of params) run.params.set(key, value.slice(0, 6000));
    for (const { key, value } of tags) run.tags.set(key, value);
    return {};
  }
}

interface Batch {
  run_id: string;
  metrics?: Metric[];
  params?: Text[];
  tags?: Text[];
}

const infinities: Readonly<Record<string, number>> = {
  Infinity: Number.MAX_VALUE,
  '-Infinity': -Number.MAX_VALUE,
};
const stored = (value: number | string): number | string => infinities[value] ?? value;

function checkName(name: string): void {
  const asFile = new URL(`file:///${name.replaceAll('%', '')}`).pathname.slice(1);
  const moves = /^[./]*\/|\/$|\/\/|(?:^|\/)\.{1,2}(?:\/|$)/.test(name);
  if (name === '' || Array.from(name).length > 250) throw invalid('length');
  if (!/^[\p{L}\p{N}_\-. :/]+$/u.test(name) || moves || asFile === '') throw invalid('name');
}

/** A run as the server shows it: of each metric the one of the last step. */
function shown({ info, metrics, params, tags }: DoubleRun) {
  const last = new Map<string, Metric>();
  for (const metric of metrics)
    if (metric.step >= (last.get(metric.key)?.step ?? -1)) last.set(metric.key, metric);
  const texts = (of: Map<string, string>) => [...of].map(([key, value]) => ({ key, value }));
  const data = {
    ...(last.size > 0 && { metrics: [...last.values()] }),
    ...(params.size > 0 && { params: texts(params) }),
    ...(tags.size > 0 && { tags: texts(tags) }),
  };
  return { info, data };
}
