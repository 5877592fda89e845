import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';

import { expect, test } from '@jest/globals';

import { viewRuns } from '#agent_rl/jobs/view/view-runs.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
import { writeBelow } from '#tests/support/temporary-folder.ts';
import { twoViewedRuns } from './two-viewed-runs.ts';

const { folder, page, one, viewer } = twoViewedRuns();

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
  'trajectories/train.jsonl trajectories/eval.jsonl trajectories/learned.jsonl ' +
  'checkpoints/step-1/manifest.json checkpoints/step-1/tokenizer.json';

test.each([...files.split(' '), 'trajectories', 'checkpoints/step-1'])(
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
  const view = await viewer({ runs: [run] });
  const headers = { authorization: `Bearer ${view.token}` };
  const asked = async (path: string) => {
    const response = await fetch(new URL(path, view.url), { headers });
    return { status: response.status, text: await response.text() };
  };
  expect((await asked('/api/runs/shown')).status).toBe(200);
  rmSync(join(run, 'config.yaml'));
  symlinkSync(file, join(run, 'config.yaml'));
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect((await asked('/api/runs/shown')).status).toBe(404);
  expect((await asked('/api/runs/shown/episodes')).status).toBe(404);
  expect(await asked('/api/runs')).toEqual({ status: 200, text: '[]' });
  await view.stop();
  expect(view.printed.join('\n')).toMatch(/Note: .*config\.yaml is a symbolic link/);
  expect(view.printed.join('\n')).not.toContain(secret);
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
    await viewRuns({
      host: '127.0.0.1',
      page,
      export: target,
      signal: new AbortController().signal,
      print: (text) => printed.push(text),
    });
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
