import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { viewRuns, type ViewRunsOptions } from '#agent_rl/jobs/view/view-runs.ts';
import { exportName } from '#agent_rl/runs/view/export-name.ts';
import { episodeLine, record, recordedFolder } from '#tests/support/recorded-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
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

describe('An export', () => {
  const given = { host: '127.0.0.1', page, print: () => undefined };
  const exported = async (target: string, options: Partial<ViewRunsOptions> = {}) => {
    const { signal } = new AbortController();
    return viewRuns({ ...given, runs: [one.path, two.path], export: target, signal, ...options });
  };

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
    record(run, 'train', ...ids.map((id) => episodeLine(id)));
    record(run, 'eval', episodeLine({ iteration: 0, taskId: 'held', when: 'before' }));
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
    record(run, 'train', '{"schema":2,"taskId":"t"}\n');
    const error = await rejectionOf(exported(join(folder, 'none'), { runs: [run.path] }));
    expect(error).toMatchObject({ code: 'DATASET_INVALID' });
    expect(error.message).toContain('(schema 2; this version reads 3)');
    expect(existsSync(join(folder, 'none'))).toBe(false);
    expect(readdirSync(run.trajectories)).toEqual(['train.jsonl']);
  });

  test('is required by a number of episodes', async () => {
    const { signal } = new AbortController();
    const served = viewRuns({ ...given, exportEpisodes: 5, signal });
    expect(await rejectionOf(served)).toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test('refuses a folder with anything in it, and a missing page', async () => {
    const target = join(folder, 'full');
    mkdirSync(target);
    writeFileSync(join(target, 'mine'), '');
    expect(await rejectionOf(exported(target))).toMatchObject({ code: 'OUTPUT_UNWRITABLE' });
    const nowhere = join(folder, 'nowhere');
    const unbuilt = exported(join(folder, 'new'), { page: nowhere });
    expect(await rejectionOf(unbuilt)).toMatchObject({ code: 'PAGE_MISSING' });
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });
});
