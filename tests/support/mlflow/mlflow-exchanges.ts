import { isRecord } from '#agent_rl/core/is-record.ts';

/*
 * What the tracker may ask of MLflow, refusals included, and how its answers are made comparable. The answers of the real
 * server are in tests/fixtures/mlflow/answers.json; the double gives the same, and `npm run test:real` asks a real one again.
 */

/** A request; `{experiment}`, `{run}` and `{artifacts}` stand for what earlier answers named. */
interface Asked {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: object;
  raw?: string;
}

/** An answer without what differs from server to server. */
export interface ComparableAnswer {
  asked: string;
  status: number;
  json: unknown;
}

const api = '/api/2.0/mlflow';
const get = (path: string): Asked => ({ method: 'GET', path: api + path });
const post = (path: string, body: object): Asked => ({ method: 'POST', path: api + path, body });
const log = (body: object, run = '{run}'): Asked =>
  post('/runs/log-batch', { run_id: run, ...body });
const metric = (key: string, value: unknown, step = 0, timestamp = 1) => ({
  key,
  value,
  timestamp,
  step,
});
const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i));
const param = (key: string, value: string) => ({ key, value });
const history = (key: string): Asked => get(`/metrics/get-history?run_id={run}&metric_key=${key}`);
const unknownRun = '0'.repeat(32);

const requests: readonly Asked[] = [
  get('/experiments/get-by-name?experiment_name=an%20experiment'),
  post('/experiments/create', { name: 'an experiment' }),
  post('/experiments/create', { name: 'an experiment' }),
  get('/experiments/get-by-name?experiment_name=an%20experiment'),
  post('/runs/create', {
    experiment_id: '{experiment}',
    run_name: 'a run',
    start_time: 1_600_000_000_000,
    tags: [param('agent_rl.key', 'k1')],
  }),
  post('/runs/search', {
    experiment_ids: ['{experiment}'],
    filter: "tags.`agent_rl.key` = 'k1'",
    max_results: 1,
  }),
  post('/runs/search', {
    experiment_ids: ['{experiment}'],
    filter: "tags.`agent_rl.key` = 'k2'",
    max_results: 1,
  }),
  log({ metrics: [metric('x', 0.1), metric('nan', 'NaN'), metric('inf', 'Infinity')] }),
  log({ metrics: [metric('ninf', '-Infinity'), metric('tiny', 5e-324), metric('a b/c:d-e.f', 1)] }),
  ...['x', 'nan', 'inf', 'ninf', 'tiny', 'none'].map(history),
  ...['a//b', '/a', 'a/', '../a', './a', 'a(b)', 'a[0]', 'a"b', 'a%b', '', 'x'.repeat(251)].map(
    (key) => log({ metrics: [metric(key, 1)] }),
  ),
  log({ metrics: [metric('ü', 1), metric('x'.repeat(250), 1)] }),
  log({ metrics: [metric('null', null)] }),
  log({ metrics: [metric('same', 1, 1, 5)] }),
  log({ metrics: [metric('same', 1, 1, 5)] }),
  history('same'),
  log({ metrics: [metric('same', 2, 3, 6), metric('same', 4, 2, 7)] }),
  history('same'),
  log({ metrics: many(1000, (i) => metric(`m${i}`, i)) }),
  log({ metrics: many(1001, (i) => metric(`m${i}`, i)) }),
  log({ params: many(101, (i) => param(`p${i}`, '1')) }),
  log({ params: [param('rate', 'slow'), param('empty', ''), param('long', 'x'.repeat(6001))] }),
  log({ params: [param('rate', 'fast')] }),
  log({ params: [param('rate', 'slow')] }),
  log({ params: [param('a[0]', '1')] }),
  log({ tags: [param('agent_rl.checkpoint', '/a/b')] }),
  log({ metrics: [metric('x', 1)] }, unknownRun),
  get(`/runs/get?run_id=${unknownRun}`),
  get('/nothing'),
  {
    method: 'PUT',
    path: '/api/2.0/mlflow-artifacts/artifacts/{artifacts}/config.yaml',
    raw: 'a: 1\n',
  },
  get('/artifacts/list?run_id={run}'),
  post('/runs/update', { run_id: '{run}', status: 'FINISHED', end_time: 1_600_000_001_000 }),
  post('/runs/update', { run_id: '{run}', status: 'RUNNING' }),
  log({ metrics: [metric('later', 1)] }),
  get('/runs/get?run_id={run}'),
  post('/runs/delete', { run_id: '{run}' }),
  log({ metrics: [metric('x', 1, 9)] }),
  post('/experiments/delete', { experiment_id: '{experiment}' }),
  get('/experiments/get-by-name?experiment_name=an%20experiment'),
  post('/runs/create', { experiment_id: '{experiment}', run_name: 'no', start_time: 1 }),
];

/** Asks a server for all of it, in order. @returns what it answered */
export async function askMlflow(url: string): Promise<ComparableAnswer[]> {
  const known: Record<string, string> = {};
  const answers: ComparableAnswer[] = [];
  for (const { method, path, body, raw } of requests) {
    const filled = (text: string): string =>
      text.replaceAll(/\{(\w+)\}/g, (all, name: string) => known[name] ?? all);
    const response = await fetch(url + filled(path), {
      method,
      ...(body && {
        headers: { 'content-type': 'application/json' },
        body: filled(JSON.stringify(body)),
      }),
      ...(raw !== undefined && { body: raw }),
    });
    const text = await response.text();
    const json = parsed(text);
    learn(known, json);
    const asked = `${method} ${path} ${(raw ?? JSON.stringify(body) ?? '').slice(0, 120)}`;
    answers.push({ asked, status: response.status, json: comparable(json, known) });
  }
  return answers;
}

const parsed = (text: string): unknown => {
  try {
    const json: unknown = JSON.parse(text);
    if (isRecord(json)) return json;
  } catch {
    // A page of HTML, or nothing.
  }
  return text.length > 2 ? 'a page' : 'nothing';
};

/** The ids that later requests need. */
function learn(known: Record<string, string>, json: unknown): void {
  if (!isRecord(json)) return;
  if (typeof json['experiment_id'] === 'string') known['experiment'] = json['experiment_id'];
  const run = isRecord(json['run']) ? json['run']['info'] : undefined;
  if (!isRecord(run)) return;
  known['run'] = String(run['run_id']);
  known['artifacts'] = String(run['artifact_uri']).replace('mlflow-artifacts:/', '');
}

/** Times of the server, and what only some versions have. */
const volatile = new Set([
  'creation_time',
  'last_update_time',
  'sqlstate',
  'error_class',
  'workspace',
  'artifact_location',
  'inputs',
  'outputs',
]);

function comparable(value: unknown, known: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') {
    const { artifacts = '\0', run = '\0', experiment } = known;
    if (value === experiment) return '{experiment}';
    if (value.length > 1000) return `${value.length} characters`;
    return value.replaceAll(artifacts, '{artifacts}').replaceAll(run, '{run}');
  }
  if (Array.isArray(value)) {
    const all = value.map((item) => comparable(item, known));
    // No order is promised.
    const sorted = all.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    return sorted.length > 20 ? [`${sorted.length} in all`] : sorted;
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !volatile.has(key))
      .map(([key, part]) => [key, comparable(part, known)]),
  );
}

/** Whether and why it was refused, in the server's code and not in its words. */
export const withoutWords = (answers: readonly ComparableAnswer[]): ComparableAnswer[] =>
  answers.map((answer) => {
    if (!isRecord(answer.json) || answer.json['message'] === undefined) return answer;
    return { ...answer, json: { error_code: answer.json['error_code'] } };
  });
