import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { type Line, readJson, readLines, withoutTimes } from '../support/acme-project.ts';
import { type Ended, endedWith, sets, startProgram, succeeded } from '../support/built-program.ts';
import { episodesIn } from '../support/journal.ts';
import { searchQuestion } from '../support/question-run.ts';
import { residentProgram } from '../support/resident-program.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { type Answer, json, webServer } from '../support/web-server.ts';

/** A project of the run file that searches, with a small model. */
function searchProject() {
  const project = temporaryFolder();
  beforeAll(async () => {
    cpSync(join(packageRoot(), 'tests', 'fixtures', 'recorded-search'), project, {
      recursive: true,
    });
    writeBelow(project, 'tasks/train.jsonl', ['a', 'b', 'c', 'd'].map(searchQuestion).join(''));
    writeBelow(project, 'tasks/eval.jsonl', ['e', 'f'].map(searchQuestion).join(''));
    await writeSmallModel(join(project, 'model'));
  });
  const folderOf = (name: string): string => join(project, 'runs', name);
  const weightsOf = (name: string) => readJson(folderOf(name), 'summary.json')['weightsSha256'];
  return { project, folderOf, weightsOf };
}

const found =
  (say: (query: string) => string, status = 200): Answer =>
  (received, response) => {
    const { query } = JSON.parse(received.body) as { query: string };
    const results = [{ title: 'Found', url: 'https://a.example/', content: say(query) }];
    json({ results }, status)(received, response);
  };

/*
 * A run that searches the web is recorded, and then made again from its cassette: with the server shut, without a key,
 * and with other timing. The server answers nothing the same way twice, so that only a recording can.
 */
describe('A run that searches the web', () => {
  const { project, folderOf, weightsOf } = searchProject();
  const server = webServer();
  const secret = 'tvly-secret-0246813579';
  let asked = 0;

  const train = (name: string, key: string | undefined, ...settings: string[]): Promise<Ended> => {
    const endpoint = `tools.0.web.endpoint=${server.origin}/search`;
    const args = ['train', '--config', 'run.yaml'];
    const env = { ...process.env, KEY_OF_TEST: key };
    return startProgram(
      'agent-rl',
      [...args, ...sets(`run.name=${name}`, endpoint, ...settings)],
      project,
      { env, timeoutMs: 400_000 },
    ).ended;
  };
  const searchIn = (name: string): Line =>
    (readJson(folderOf(name), 'summary.json')['tools'] as { search: Line }).search;

  beforeAll(async () => {
    server.answer = (received, response) => {
      const { length } = server.received;
      const answer = found((query) => `Answer ${length} to ${query}`, length % 4 === 0 ? 500 : 200);
      answer(received, response);
    };
    succeeded(await train('recorded', secret));
    asked = server.received.length;
    await server.shut();
    const replay = ['tools.0.web.cassette.mode=replay', 'rollout.workers=3'];
    succeeded(await train('replayed', undefined, ...replay));
  }, 900_000);

  test('calls the server, which sometimes fails, and learns something', async () => {
    const episodes = await episodesIn(folderOf('recorded'), 'train');
    const calls = episodes.flatMap(({ toolCalls }) => toolCalls);
    // Two tasks, four attempts at each, two searches in each.
    expect(calls).toHaveLength(16);
    const failed = calls.filter(({ status }) => status === 'error');
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(calls.length);
    expect(asked).toBeGreaterThan(8);
    // Besides those that arrived, attempts on a connection that the server was just closing.
    expect(searchIn('recorded')['networkCalls']).toBeGreaterThanOrEqual(asked);
    for (const line of readLines(folderOf('recorded'), 'metrics.jsonl'))
      expect(line['group/zeroVariance']).toBeLessThan(1);
  });

  test('makes no call to the network when it is replayed', () => {
    expect(server.received).toHaveLength(asked);
    expect(searchIn('replayed')).toMatchObject({ networkCalls: 0, cassetteHitRate: 1, cost: 0 });
  });

  test('has the same rollouts and weights when it is replayed', async () => {
    for (const file of ['train', 'eval'] as const) {
      const [recorded, replayed] = [
        await episodesIn(folderOf('recorded'), file),
        await episodesIn(folderOf('replayed'), file),
      ];
      expect(replayed.length).toBeGreaterThan(0);
      expect(withoutTimes(replayed)).toEqual(withoutTimes(recorded));
    }
    expect(weightsOf('replayed')).toMatch(/^[0-9a-f]{64}$/);
    expect(weightsOf('replayed')).toBe(weightsOf('recorded'));
  });

  test('writes its key to no file', () => {
    const files = ['cassette.jsonl', 'runs/recorded/run.log', 'runs/recorded/config.yaml'];
    for (const file of files.map((name) => join(project, name)).filter((path) => existsSync(path)))
      expect(readFileSync(file, 'utf8')).not.toContain(secret);
  });
});

/*
 * A run whose budget of web calls is spent in its second iteration, the same run continued with a larger one, and
 * one that never had a limit. The server answers a query always the same.
 */
describe('A run with a budget of web calls', () => {
  const { project, folderOf, weightsOf } = searchProject();
  const agentRl = residentProgram('agent-rl');
  const server = webServer();
  const maxCalls = 24;
  const askedBy: Record<string, number> = {};
  const ended: Record<string, Ended> = {};

  async function train(what: string, ...args: string[]): Promise<void> {
    const before = server.received.length;
    const settings = sets(`tools.0.web.endpoint=${server.origin}/search`, 'train.iterations=2');
    ended[what] = await agentRl(['train', ...args, ...settings], project);
    askedBy[what] = server.received.length - before;
  }
  const named = (name: string): string[] => [
    '--config',
    'run.yaml',
    ...sets(`run.name=${name}`, `tools.0.web.cassette.path=${name}.jsonl`),
  ];
  const budget = (calls: number): string[] => sets(`tools.0.web.budget.maxCalls=${calls}`);

  beforeAll(async () => {
    process.env['KEY_OF_TEST'] = 'tvly-secret-1357908642';
    server.answer = found((query) => `It is ${query}`);
    await train('limited', ...named('limited'), ...budget(maxCalls));
    await train('continued', '--resume', folderOf('limited'), ...budget(1000));
    await train('unlimited', ...named('unlimited'));
  }, 900_000);
  afterAll(() => void delete process.env['KEY_OF_TEST']);

  test('ends when it is spent, with its limit and its last complete iteration and without an extra call', () => {
    endedWith(2, ended['limited']!);
    const { stderr } = ended['limited']!;
    expect(stderr).toContain('\nWEB_BUDGET_SPENT: ');
    expect(stderr).toContain(`after ${maxCalls} calls (budget.maxCalls = ${maxCalls})`);
    expect(askedBy['limited']).toBeLessThanOrEqual(maxCalls);
    expect(readdirSync(join(folderOf('limited'), 'checkpoints'))).toContain('step-1');
    expect(existsSync(join(folderOf('limited'), 'run.log'))).toBe(true);
  });

  test('is continued with a larger one to the weights of an uninterrupted run, without repeating a paid call', () => {
    succeeded(ended['continued']!);
    expect(askedBy['limited']! + askedBy['continued']!).toBeLessThanOrEqual(askedBy['unlimited']!);
    expect(weightsOf('limited')).toMatch(/^[0-9a-f]{64}$/);
    expect(weightsOf('limited')).toBe(weightsOf('unlimited'));
  });
});
