import { isRecord } from '#agent_rl/core/is-record.ts';
import { readFixture } from '../exchanges.ts';

/** A request and its answer, without what differs from server to server. */
export interface ComparableAnswer {
  /** Method, path and body. What stands in braces is an id that an earlier answer gave, or too long to be written here. */
  asked: string;
  status: number;
  json: unknown;
}

/** What MLflow 3.17.2 answered to all that the tracker may ask of it, refusals included. */
export const capturedMlflow = (): ComparableAnswer[] =>
  readFixture('mlflow/answers.json') as ComparableAnswer[];

const many = (count: number, item: (index: number) => object): string =>
  JSON.stringify(Array.from({ length: count }, (_, i) => item(i)));
const metric = (i: number) => ({ key: `m${i}`, value: i, timestamp: 1, step: 0 });
const long: Readonly<Record<string, string>> = {
  '250 times x': 'x'.repeat(250),
  '251 times x': 'x'.repeat(251),
  '6001 times x': 'x'.repeat(6001),
  '1000 metrics': many(1000, metric),
  '1001 metrics': many(1001, metric),
  '101 params': many(101, (i) => ({ key: `p${i}`, value: '1' })),
};

/** Asks a server for all of it, in order. @returns what it answered */
export async function askMlflow(url: string): Promise<ComparableAnswer[]> {
  const known: Record<string, string> = { ...long };
  const answers: ComparableAnswer[] = [];
  for (const { asked } of capturedMlflow()) {
    const filled = asked.replaceAll(/\{([\w ]+)\}/g, (all, name: string) => known[name] ?? all);
    const [, method = '', path, body] = /^(\S+) (\S+) ([^]*)$/.exec(filled) ?? [];
    const response = await fetch(`${url}${path}`, {
      method,
      ...(method !== 'GET' && { body: body ?? null }),
      ...(method === 'POST' && { headers: { 'content-type': 'application/json' } }),
    });
    const json = parsed(await response.text());
    learn(known, json);
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
const volatile = new Set(
  'creation_time last_update_time sqlstate error_class workspace artifact_location inputs outputs'.split(
    ' ',
  ),
);

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
