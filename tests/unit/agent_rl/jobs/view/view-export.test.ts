import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { closeServer, listen } from '#agent_rl/http/listen.ts';
import { refuseStrangers } from '#agent_rl/http/refuse-strangers.ts';
import { servedAddresses } from '#agent_rl/jobs/view/served-addresses.ts';
import { viewRuns, type ViewRunsOptions } from '#agent_rl/jobs/view/view-runs.ts';
import { exportName } from '#agent_rl/runs/view/export-name.ts';
import { writeJournal } from '#tests/support/journal.ts';
import { episodeEvent, record, recordedFolder } from '#tests/support/recorded-folder.ts';
import { writeBelow } from '#tests/support/temporary-folder.ts';
import { expectRejection, rejectionOf } from '#tests/support/thrown.ts';
import { twoViewedRuns, type Viewer } from './two-viewed-runs.ts';

const { folder, page, hostile, one, two, viewer } = twoViewedRuns();

let view: Viewer;

beforeAll(async () => {
  view = await viewer();
});

afterAll(() => view.stop());

/** What the server says, for comparison. */
async function answered(path: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${view.token}` };
  const response = await fetch(new URL(path, view.url), { headers });
  expect(response.status).toBe(200);
  return response.json();
}

const { signal } = new AbortController();
const given = { host: '127.0.0.1', page, signal, print: () => undefined };
const exported = (target: string, options: Partial<ViewRunsOptions> = {}) =>
  viewRuns({ ...given, runs: [one.path, two.path], export: target, ...options });

describe('An export', () => {
  test('holds the page and every answer, as scripts whose data is a text', async () => {
    const target = join(folder, 'shared');
    const result = await exported(target);
    expect(result).toMatchObject({ folder: target });
    expect(readFileSync(join(target, 'index.html'), 'utf8')).toContain(
      '<head lang="en"><meta name="agent-rl-export" content="1"><title>',
    );
    const answers: Record<string, unknown> = {};
    const read = (path: string) => {
      const script = readFileSync(join(target, exportName(path)), 'utf8');
      const take = (request: string, text: string) => (answers[request] = JSON.parse(text));
      // What a browser does with the file.
      runInNewContext(script, { agentRlAnswer: take });
      return answers[path];
    };
    const { rows } = read('/api/runs/one/episodes') as { rows: { id: string }[] };
    expect(rows).toHaveLength(1);
    for (const path of ['/api/runs/one', '/api/runs/one/metrics', '/api/runs/one/tasks'])
      expect(JSON.parse(JSON.stringify(read(path)))).toEqual(await answered(path));
    const episode = `/api/runs/one/episodes/${rows[0]?.id}`;
    expect(read(episode)).toEqual(await answered(episode));
    expect(read('/api/runs/one/timeline?iteration=1')).toMatchObject({ iteration: 1 });
    expect(read('/api/compare?a=two__b_&b=one')).toMatchObject({ rows: [{ a: 8, b: 7 }] });
    const task = `/api/tasks/${encodeURIComponent(hostile)}`;
    expect(read(task)).toEqual(await answered(task));
    const names = readdirSync(target, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => !/^[\w/~.-]+$/.test(name))).toEqual([]);
  });

  test('keeps the newest episodes and all of evaluations, and says what it leaves out', async () => {
    const run = recordedFolder(folder, 'long');
    const ids = [1, 2, 3].map((iteration) => ({ iteration, taskId: 'sum' }));
    const held = episodeEvent({ iteration: 0, taskId: 'held', when: 'before' });
    record(run, held, ...ids.map(episodeEvent));
    const printed: string[] = [];
    const target = join(folder, 'newest');
    const result = await exported(target, {
      runs: [run.path],
      exportEpisodes: 1,
      print: (text) => void printed.push(text),
    });
    expect(result).toMatchObject({ leftOut: 2 });
    expect(printed.at(-1)).toBe(
      'Left out: 2 older training episodes; the page lists them but cannot open them (--export-episodes).',
    );
    const names = readdirSync(join(target, 'api'), { recursive: true, encoding: 'utf8' });
    const list = readFileSync(join(target, exportName('/api/runs/long/episodes')), 'utf8');
    const rows = [...list.matchAll(/\\"id\\":\\"([^"\\]+)/g)].map(([, id = '']) => id);
    expect(rows).toHaveLength(4);
    expect(list).toContain('\\"leftOut\\":2');
    const opened = rows.filter((id) =>
      names.includes(exportName(`/api/runs/long/episodes/${id}`).replace('api/', '')),
    );
    // The third of training, and the one that was held out.
    expect(opened).toEqual([rows[2], rows[3]]);
  });

  test('is refused for a run of an older build, and writes nothing', async () => {
    const run = recordedFolder(folder, 'old');
    const file = writeJournal(run.path, { session: { schema: 0 } });
    const error = await rejectionOf(exported(join(folder, 'none'), { runs: [run.path] }));
    expect(error).toMatchObject({ code: 'DATASET_INVALID' });
    expect(error.message).toContain('(schema 0; this version reads 1)');
    expect(existsSync(join(folder, 'none'))).toBe(false);
    expect(readdirSync(run.journal)).toEqual([basename(file)]);
  });

  test('is required by a number of episodes', async () => {
    const served = viewRuns({ ...given, exportEpisodes: 5 });
    await expectRejection(served, 'CONFIG_INVALID');
  });

  test('refuses a folder with anything in it, and a missing page', async () => {
    const target = join(folder, 'full');
    mkdirSync(target);
    writeFileSync(join(target, 'mine'), '');
    await expectRejection(exported(target), 'OUTPUT_UNWRITABLE');
    const nowhere = join(folder, 'nowhere');
    const unbuilt = exported(join(folder, 'new'), { page: nowhere });
    await expectRejection(unbuilt, 'PAGE_MISSING');
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });
});

const secret = 'words-of-another-file';
writeBelow(folder, 'secret/file', `${secret}\n{"taskId":"${secret}","tokens":[]}\n`);

/** A copy of a run in which a path leads to the secret. */
function linkedRun(name: string, path: string, target: string): string {
  const run = join(folder, 'linked', name);
  cpSync(one.path, run, { recursive: true });
  const link = join(run, path);
  rmSync(link, { recursive: true, force: true });
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link);
  return run;
}

const file = join(folder, 'secret', 'file');
const files =
  'config.yaml inputs.json summary.json metrics.jsonl profile.json run.log run.lock tools.json ' +
  'journal/0000000000.open journal/0000000007.0123abcd.parquet ' +
  'checkpoints/step-1/manifest.json checkpoints/step-1/tokenizer.json';

test.each([...files.split(' '), 'journal', 'checkpoints/step-1'])(
  'the viewer does not open a run whose %s is a symbolic link',
  async (path) => {
    const target = path.includes('.') ? file : dirname(file);
    const run = linkedRun(path.replaceAll('/', '-'), path, target);
    const { code, message } = await rejectionOf(viewer({ runs: [run] }));
    expect(code).toBe('CHECKPOINT_INVALID');
    expect(message).toMatch(/ is a symbolic link, which the viewer refuses/);
    expect(message).not.toContain(secret);
    expect(message).toContain(join(run, path));
  },
);

test('a run that gets a link while it is shown is not read on', async () => {
  const run = join(folder, 'shown');
  cpSync(one.path, run, { recursive: true });
  const live = await viewer({ runs: [run] });
  const headers = { authorization: `Bearer ${live.token}` };
  const asked = async (path: string) => {
    const response = await fetch(new URL(path, live.url), { headers });
    return { status: response.status, text: await response.text() };
  };
  expect((await asked('/api/runs/shown')).status).toBe(200);
  rmSync(join(run, 'config.yaml'));
  symlinkSync(file, join(run, 'config.yaml'));
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect((await asked('/api/runs/shown')).status).toBe(404);
  expect((await asked('/api/runs/shown/episodes')).status).toBe(404);
  expect(await asked('/api/runs')).toEqual({ status: 200, text: '[]' });
  await live.stop();
  expect(live.printed.join('\n')).toMatch(/Note: .*config\.yaml is a symbolic link/);
  expect(live.printed.join('\n')).not.toContain(secret);
});

test('an export holds nothing of what a link in one of the runs leads to', async () => {
  const runs = dirname(linkedRun('several/linked', 'summary.json', file));
  cpSync(one.path, join(runs, 'one'), { recursive: true });
  const printed: string[] = [];
  const target = join(folder, 'exported');
  const before = process.cwd();
  mkdirSync(join(folder, 'work'));
  symlinkSync(runs, join(folder, 'work', 'runs'));
  process.chdir(join(folder, 'work'));
  try {
    await viewRuns({ ...given, export: target, print: (text) => printed.push(text) });
  } finally {
    process.chdir(before);
  }
  const texts = readdirSync(target, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('');
  expect(texts).not.toContain(secret);
  expect(texts).toContain('agentRlAnswer("/api/runs/one"');
  expect(printed.join('\n')).toContain('summary.json is a symbolic link');
});

test('the viewer does not open a run that holds a socket, which is no file', async () => {
  const run = join(folder, 'socket');
  cpSync(one.path, run, { recursive: true });
  const server = createServer().listen(join(run, 's'));
  await once(server, 'listening');
  const { message } = await rejectionOf(viewer({ runs: [run] }));
  expect(message).toContain('s is neither a file nor a folder');
  server.close();
});

test.each(['0.0.0.0', '0', '127.0.0.1'])(
  'a server on %s is found under names that it answers to, and on one address there alone',
  async (host) => {
    const server = createHttpServer();
    await listen(server, { host, port: 0, code: 'CONFIG_INVALID', what: 'It' });
    const addresses = servedAddresses(server).map((address) => new URL(address));
    await closeServer(server);
    const others = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
      .map(({ address }) => address);
    const names = host === '127.0.0.1' ? [] : [hostname().toLowerCase(), ...others];
    expect(addresses.map((address) => address.hostname)).toEqual(['127.0.0.1', ...names]);
    for (const address of addresses) refuseStrangers({ headers: { host: address.host } }, host);
  },
);
