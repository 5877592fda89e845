import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { type Line, readJson, readLines, withoutTimes } from '../support/acme-project.ts';
import { type Ended, startProgram } from '../support/built-program.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { json, webServer } from '../support/web-server.ts';

/*
 * A run that searches the web is recorded, and then made again from its cassette: with the server shut, without a key,
 * and with other timing. The server answers nothing the same way twice, so that only a recording can.
 */
const project = temporaryFolder();
const server = webServer();
const secret = 'tvly-secret-0246813579';
const runs = { recorded: {}, replayed: {} } as Record<'recorded' | 'replayed', Ended>;
let asked = 0;

const train = (name: string, env: NodeJS.ProcessEnv, ...settings: string[]): Promise<Ended> =>
  startProgram(
    'agent-rl',
    [
      ...'train --config run.yaml --set'.split(' '),
      `run.name=${name}`,
      ...[`tools.0.web.endpoint=${server.origin}/search`, ...settings].flatMap((setting) => [
        '--set',
        setting,
      ]),
    ],
    project,
    { env: { ...process.env, ...env }, timeoutMs: 400_000 },
  ).ended;

const folderOf = (name: string): string => join(project, 'runs', name);
const episodes = (name: string, kind: 'train' | 'eval'): Line[] =>
  readLines(folderOf(name), 'trajectories', `${kind}.jsonl`);
const callsOf = (line: Line): Line[] => line['toolCalls'] as Line[];
const tasks = (split: string, count: number): string =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      task_id: `${split}-${index}`,
      question: `Who built the ${split} bridge ${index}?`,
      answer: 'Ina Kost',
      aliases: [],
      documents: [],
      metadata: {},
    }),
  ).join('\n');

beforeAll(async () => {
  cpSync(join(packageRoot(), 'tests', 'fixtures', 'recorded-search'), project, { recursive: true });
  writeBelow(project, 'tasks/train.jsonl', `${tasks('train', 4)}\n`);
  writeBelow(project, 'tasks/eval.jsonl', `${tasks('eval', 2)}\n`);
  await writeSmallModel(join(project, 'model'), smallModelConfig);
  server.answer = (received, response) => {
    const { query } = JSON.parse(received.body) as { query: string };
    const content = `Answer ${server.received.length} to ${query}`;
    const results = [{ title: 'Found', url: `https://a.example/${query.length}`, content }];
    json({ results }, server.received.length % 4 === 0 ? 500 : 200)(received, response);
  };
  runs.recorded = await train('recorded', { KEY_OF_TEST: secret });
  asked = server.received.length;
  await server.shut();
  const replay = ['tools.0.web.cassette.mode=replay', 'rollout.workers=3'];
  runs.replayed = await train('replayed', { KEY_OF_TEST: undefined }, ...replay);
}, 900_000);

test.each(['recorded', 'replayed'] as const)('the %s run completes', (name) => {
  const { code, stderr } = runs[name];
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
});

describe('The recorded run', () => {
  test('called the server, which sometimes failed', () => {
    const calls = episodes('recorded', 'train').flatMap(callsOf);
    // Two tasks, four attempts at each, two searches in each.
    expect(calls).toHaveLength(16);
    const failed = calls.filter(({ status }) => status === 'error');
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(calls.length);
    expect(asked).toBeGreaterThan(8);
    const { search } = readJson(folderOf('recorded'), 'summary.json')['tools'] as Line;
    // Besides those that arrived, attempts on a connection that the server was just closing.
    expect((search as Line)['networkCalls']).toBeGreaterThanOrEqual(asked);
  });

  test('learned something', () => {
    for (const line of readLines(folderOf('recorded'), 'metrics.jsonl')) {
      expect(line['group/zeroVariance']).toBeLessThan(1);
    }
  });
});

describe('The replayed run', () => {
  test('made no call to the network', () => {
    expect(server.received).toHaveLength(asked);
    const { search } = readJson(folderOf('replayed'), 'summary.json')['tools'] as Line;
    expect(search).toMatchObject({ networkCalls: 0, cassetteHitRate: 1, cost: 0 });
  });

  test.each(['train', 'eval'] as const)('has the same rollouts in %s.jsonl', (kind) => {
    // Episodes are written as they end, which other workers do in another order.
    const sorted = (name: string): string[] =>
      withoutTimes(episodes(name, kind))
        .map((line) => JSON.stringify(line))
        .toSorted();
    expect(sorted('replayed').length).toBeGreaterThan(0);
    expect(sorted('replayed')).toEqual(sorted('recorded'));
  });

  test('ends with the same weights', () => {
    const [recorded, replayed] = ['recorded', 'replayed'].map((name) =>
      readJson(folderOf(name), 'summary.json'),
    );
    expect(replayed?.['weightsSha256']).toBe(recorded?.['weightsSha256']);
    expect(replayed?.['weightsSha256']).toMatch(/^[0-9a-f]{64}$/);
  });
});

test('no file contains the key', () => {
  const files = ['cassette.jsonl', 'runs/recorded/run.log', 'runs/recorded/config.yaml'];
  for (const file of files.map((name) => join(project, name)).filter((path) => existsSync(path))) {
    expect(readFileSync(file, 'utf8')).not.toContain(secret);
  }
});
