import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { ReportedEvent, TrackedRun } from '#agent_rl/core/run-event.ts';
import { MlflowTracker } from '#agent_rl/trackers/mlflow/mlflow-tracker.ts';
import { describeTrackerContract } from '#tests/contracts/index.ts';
import { mlflowDouble, type MlflowDouble } from '#tests/support/mlflow/mlflow-double.ts';
import {
  askMlflow,
  type ComparableAnswer,
  withoutWords,
} from '#tests/support/mlflow/mlflow-exchanges.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';
import { iterated, startedIn } from '#tests/support/tracked-facts.ts';

const folder = temporaryFolder();
const { signal } = new AbortController();

const trackerAt = (url: string, more = {}) =>
  new MlflowTracker({ settings: { url, experiment: 'tests', artifacts: true, ...more } });

describe('The MLflow double', () => {
  let server: MlflowDouble;
  let silent: MlflowDouble;
  beforeAll(async () => {
    server = await mlflowDouble();
    silent = await mlflowDouble();
    silent.answerInstead = 'none';
  });
  afterAll(() => Promise.all([server.close(), silent.close()]));
  const runIn = (run: string) =>
    server.runs.findLast(({ tags }) => tags.get('agent_rl.folder') === run);
  describeTrackerContract('mlflow', {
    plugin: MlflowTracker,
    create: () => trackerAt(server.url),
    recorded: (run) =>
      (runIn(run)?.metrics ?? [])
        .filter(({ key }) => key === 'rollout/rewardMean')
        .map(({ step }) => step),
    cutOff: {
      // Nothing listens at port 1.
      'a dead server': () => trackerAt('http://127.0.0.1:1'),
      'a server that never answers': () => trackerAt(silent.url),
      'a server that is something else': () => trackerAt(`${server.url}/elsewhere`),
    },
  });
});

let server: MlflowDouble;
beforeEach(async () => {
  server = await mlflowDouble();
});
afterEach(() => server.close());

const settled = { run: { seed: 1 }, tools: [{ type: 'calculator' }], rewards: [], model: null };
const started = (name: string, resume: Partial<TrackedRun> = {}): ReportedEvent =>
  startedIn(folder, name, { config: settled, ...resume });
const ended = (status: 'finished' | 'interrupted' | 'failed') => ({ type: 'end', status }) as const;

/** Tells one session; what the tracker noted. */
async function told(facts: readonly ReportedEvent[], more = {}): Promise<string[]> {
  const tracker = trackerAt(server.url, more);
  const notes: string[] = [];
  for (const [index, fact] of facts.entries()) {
    const note = await tracker.track({ ...fact, time: 1000 + index }, signal);
    if (typeof note === 'string') notes.push(note);
  }
  await tracker.close();
  return notes;
}

test('a run gets its settings, metrics, checkpoint, files and end', async () => {
  const step = { iteration: 1, path: '/a/step-1', weightsSha256: 'c0ffee' };
  const notes = await told([
    started('whole'),
    { type: 'evaluation', when: 'before', iteration: 0, metrics: { 'eval/successRate': 0.25 } },
    iterated(1, { 'train/loss': 0.1, 'eval/group/hard ones': 1e-300 }),
    { type: 'checkpoint', reason: 'last', ...step },
    { type: 'summary', summary: { iterations: 1 } },
    ended('finished'),
  ]);
  expect(notes).toEqual([]);
  const [run, ...others] = server.runs;
  const times = { start_time: 1000, end_time: 1005 };
  expect(run?.info).toMatchObject({ run_name: 'whole', status: 'FINISHED', ...times });
  expect(run?.metrics).toEqual([
    { key: 'eval/successRate', value: 0.25, timestamp: 1001, step: 0 },
    { key: 'train/loss', value: 0.1, timestamp: 1002, step: 1 },
    { key: 'eval/group/hard ones', value: 1e-300, timestamp: 1002, step: 1 },
  ]);
  const texts = { 'run.seed': '1', 'tools.0.type': 'calculator', rewards: '[]', model: 'null' };
  expect(Object.fromEntries(run?.params ?? [])).toEqual(texts);
  expect(run?.tags.get('agent_rl.weightsSha256')).toBe('c0ffee');
  expect(run?.artifacts.get('summary.json')).toBe('{\n "iterations": 1\n}');
  expect(run?.artifacts.get('config.yaml')).toMatch(/^run:\n {2}seed: 1\n/);
  expect(others).toEqual([]);
});

test.each([
  ['interrupted', 'KILLED'],
  ['failed', 'FAILED'],
] as const)('a session that was %s is %s in MLflow', async (status, expected) => {
  await told([started(status), ended(status)]);
  expect(server.runs[0]?.info['status']).toBe(expected);
});

test('a resumed run continues the same MLflow run and records nothing twice', async () => {
  const played = [iterated(1, { a: 1 }), iterated(2, { a: 2 })];
  await told([started('resumed'), ...played, ended('interrupted')]);
  const config = { run: { seed: 2 }, added: true };
  const notes = await told([
    started('resumed', { resumed: true, from: 1, config }),
    iterated(2, { a: 2.5 }),
    iterated(3, { a: 3 }),
    ended('finished'),
  ]);
  expect(server.runs).toHaveLength(1);
  const [run] = server.runs;
  expect(run?.metrics.map(({ step, value }) => `${step}: ${value}`).join()).toBe('1: 1,2: 2,3: 3');
  expect(run?.params.get('run.seed')).toBe('1');
  expect(run?.params.get('added')).toBe('true');
  expect(run?.info['status']).toBe('FINISHED');
  expect(notes.join(' ')).toMatch(/MLflow keeps the metrics recorded first, up to iteration 2/);
  expect(notes.join(' ')).toMatch(/run\.seed has changed/);
});

test('a run whose id was lost in a crash is found again', async () => {
  // It is made, and the connection breaks before the answer.
  const tracker = trackerAt(server.url);
  const stop = new AbortController();
  const start = { ...started('crash'), time: 1 };
  const starting = tracker.track(start, stop.signal);
  while (server.runs.length === 0) await new Promise((resolve) => setImmediate(resolve));
  stop.abort(new Error('killed'));
  await expect(starting).rejects.toThrow('killed');
  await tracker.close();
  const kept = readFileSync(join(folder, 'crash', 'trackers', 'mlflow.json'), 'utf8');
  expect(JSON.parse(kept)).toHaveProperty('key');
  await told([started('crash', { resumed: true }), iterated(1, { a: 1 })]);
  expect(server.runs).toHaveLength(1);
  expect(server.runs[0]?.metrics).toHaveLength(1);
});

test('a run deleted in MLflow starts again, with a note', async () => {
  await told([started('deleted'), iterated(1, { a: 1 })]);
  server.runs[0]!.info['lifecycle_stage'] = 'deleted';
  const notes = await told([started('deleted', { resumed: true, from: 1 }), iterated(2, { a: 2 })]);
  expect(server.runs.map(({ metrics }) => metrics.map(({ step }) => step))).toEqual([[1], [2]]);
  expect(notes.join(' ')).toMatch(/the run r1 is no longer in MLflow/);
});

test('a server that returns receives later events', async () => {
  const tracker = trackerAt(server.url);
  server.answerInstead = { status: 500, json: { error_code: 'INTERNAL_ERROR', message: 'down' } };
  await expect(tracker.track({ ...started('back'), time: 1 }, signal)).rejects.toThrow(
    /answered 500 to GET \/experiments\/get-by-name: INTERNAL_ERROR: down\./,
  );
  server.answerInstead = undefined;
  await tracker.track({ ...iterated(1, { a: 1 }), time: 2 }, signal);
  await tracker.close();
  expect(server.runs[0]?.metrics).toHaveLength(1);
  expect(server.runs[0]?.params.get('run.seed')).toBe('1');
});

test('metrics and settings are sent in as many requests as MLflow needs', async () => {
  const metrics = Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`m${i}`, i]));
  const config = Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`p${i}`, i]));
  await told([started('many', { config }), iterated(1, metrics)]);
  const batches = server.requests
    .filter(({ path }) => path.endsWith('/runs/log-batch'))
    .map(({ body }) => ((body['metrics'] ?? body['params']) as unknown[]).length);
  expect(batches).toEqual([100, 100, 1, 1000, 1000, 1]);
  expect(server.runs[0]?.metrics).toHaveLength(2001);
});

test('names that MLflow does not allow are changed, stay distinct, and are noted once', async () => {
  const metrics = { 'a(b)': 1, 'a[b]': 2, '../c': 3, 'd//e': 4, '/f/': 5, ['g'.repeat(251)]: 6 };
  const notes = await told([
    started('names', { config: { 'x[0]': 1, long: 'y'.repeat(6001) } }),
    iterated(1, metrics),
    iterated(2, metrics),
  ]);
  const named = server.runs[0]?.metrics.filter(({ step }) => step === 1).map(({ key }) => key);
  expect(named).toEqual(['a_b_', 'a_b__2', '_/c', 'd/_/e', '_/f/_', 'g'.repeat(250)]);
  expect(notes).toHaveLength(2);
  expect(notes[0]).toMatch(/the parameter long is too long .*"x\[0\]" is named "x_0_" in MLflow/);
  expect(notes[1]).toMatch(/"a\[b\]" is named "a_b__2" in MLflow/);
  expect(server.runs[0]?.params.get('long')).toHaveLength(6000);
});

test('NaN is recorded as MLflow records it, and an infinity is noted', async () => {
  const values = { n: NaN, up: Infinity, down: -Infinity };
  const notes = await told([started('nan'), iterated(1, values)]);
  const { MAX_VALUE } = Number;
  const recorded = server.runs[0]?.metrics.map(({ value }) => value);
  expect(recorded).toEqual(['NaN', MAX_VALUE, -MAX_VALUE]);
  expect(notes).toEqual([expect.stringMatching(/^"up" is infinite.*; "down" is infinite/)]);
});

test('a server without artifacts is named with the remedy, and metrics are still recorded', async () => {
  const other = await mlflowDouble({ proxied: false });
  try {
    const tracker = trackerAt(other.url);
    await expect(tracker.track({ ...started('s3'), time: 1 }, signal)).rejects.toThrow(
      /--artifacts-destination, or set artifacts: false/,
    );
    await tracker.track({ ...iterated(1, { a: 1 }), time: 2 }, signal);
    await tracker.close();
    expect(other.runs[0]?.metrics).toHaveLength(1);
  } finally {
    await other.close();
  }
  await told([started('none'), { type: 'summary', summary: {} }], { artifacts: false });
  expect(server.runs[0]?.artifacts.size).toBe(0);
});

describe('The access to MLflow', () => {
  const secret = 'hunter2-hunter2';
  beforeAll(() => {
    process.env['MLFLOW_TEST_SECRET'] = secret;
  });
  afterAll(() => {
    delete process.env['MLFLOW_TEST_SECRET'];
  });

  const password = { username: 'me', passwordEnv: 'MLFLOW_TEST_SECRET' };
  const token = { tokenEnv: 'MLFLOW_TEST_SECRET' };
  test.each([
    [token, `Bearer ${secret}`],
    [password, `Basic ${Buffer.from(`me:${secret}`).toString('base64')}`],
  ])('sends %p in the header alone', async (more, expected) => {
    await told([started('secret')], more);
    const sent = server.requests.map(({ headers }) => headers.authorization);
    expect([...new Set(sent)]).toEqual([expected]);
    expect(JSON.stringify(server.requests.map(({ text }) => text))).not.toMatch(secret);
  });

  test('shows no rejected secret', async () => {
    server.answerInstead = { status: 401, json: 'You are not authenticated.' };
    const tracker = trackerAt(server.url, token);
    const failing = tracker.track({ ...started('refused'), time: 1 }, signal);
    await expect(failing).rejects.toThrow(/answered 401 .*You are not authenticated.* tokenEnv/);
    await expect(failing).rejects.not.toThrow(secret);
    await tracker.close();
  });

  test.each([
    [{ tokenEnv: 'MLFLOW_TEST_UNSET' }, 'MLFLOW_TEST_UNSET, which is not set'],
    [{ username: 'me' }, 'username and passwordEnv together'],
    [{ ...password, ...token }, 'Set one or the other'],
    [{ url: 'http://me:pw@127.0.0.1' }, 'contains a password'],
    [{ url: 'ftp://127.0.0.1' }, 'must be http: or https:'],
  ])('refuses secrets and addresses that cannot be right before the run: %p', (more, problem) => {
    expect(thrownBy(() => trackerAt('http://127.0.0.1:1', more))).toMatchObject(
      errorOf('CONFIG_INVALID', problem),
    );
  });
});

test('the double answers as MLflow 3.17.2 did', async () => {
  const file = join(packageRoot(), 'tests', 'fixtures', 'mlflow', 'answers.json');
  const real = JSON.parse(readFileSync(file, 'utf8')) as ComparableAnswer[];
  expect(withoutWords(await askMlflow(server.url))).toEqual(withoutWords(real));
});
