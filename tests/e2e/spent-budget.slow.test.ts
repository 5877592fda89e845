import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readJson } from '../support/acme-project.ts';
import type { Ended } from '../support/built-program.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { json, webServer } from '../support/web-server.ts';

/*
 * A run whose budget of web calls is spent in its second iteration, the same run continued with a larger one, and
 * one that never had a limit. The server answers a query always the same.
 */
const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');
const server = webServer();
const maxCalls = 24;
const askedBy: Record<string, number> = {};
const ended: Record<string, Ended> = {};

const task = (id: string): string =>
  `${JSON.stringify({
    task_id: id,
    question: `Who built ${id}?`,
    answer: 'Ina Kost',
    aliases: [],
    documents: [],
    metadata: {},
  })}\n`;

async function train(what: string, ...args: string[]): Promise<void> {
  const before = server.received.length;
  const settings = [`tools.0.web.endpoint=${server.origin}/search`, 'train.iterations=2'];
  ended[what] = await agentRl(
    ['train', ...args, ...settings.flatMap((setting) => ['--set', setting])],
    project,
  );
  askedBy[what] = server.received.length - before;
}

const folderOf = (name: string): string => join(project, 'runs', name);
const named = (name: string): string[] => [
  '--config',
  'run.yaml',
  '--set',
  `run.name=${name}`,
  '--set',
  `tools.0.web.cassette.path=${name}.jsonl`,
];
const budget = (calls: number): string[] => ['--set', `tools.0.web.budget.maxCalls=${calls}`];

beforeAll(async () => {
  process.env['KEY_OF_TEST'] = 'tvly-secret-1357908642';
  cpSync(join(packageRoot(), 'tests', 'fixtures', 'recorded-search'), project, { recursive: true });
  writeBelow(project, 'tasks/train.jsonl', ['a', 'b', 'c', 'd'].map(task).join(''));
  writeBelow(project, 'tasks/eval.jsonl', ['e', 'f'].map(task).join(''));
  await writeSmallModel(join(project, 'model'), smallModelConfig);
  server.answer = (received, response) => {
    const { query } = JSON.parse(received.body) as { query: string };
    const results = [{ title: 'Found', url: 'https://a.example/', content: `It is ${query}` }];
    json({ results })(received, response);
  };
  await train('limited', ...named('limited'), ...budget(maxCalls));
  await train('continued', '--resume', folderOf('limited'), ...budget(1000));
  await train('unlimited', ...named('unlimited'));
}, 900_000);

afterAll(async () => {
  delete process.env['KEY_OF_TEST'];
  await server.shut();
});

test('a spent budget ends the run with its limit and without an extra call', () => {
  const { code, stderr } = ended['limited']!;
  expect(code).toBe(2);
  expect(stderr).toContain('\nWEB_BUDGET_SPENT: ');
  expect(stderr).toContain(`after ${maxCalls} calls (budget.maxCalls = ${maxCalls})`);
  expect(askedBy['limited']).toBeLessThanOrEqual(maxCalls);
});

test('the last complete iteration is kept as a checkpoint', () => {
  expect(readdirSync(join(folderOf('limited'), 'checkpoints'))).toContain('step-1');
  expect(existsSync(join(folderOf('limited'), 'run.log'))).toBe(true);
});

test('a larger budget continues the run without repeating a paid call', () => {
  const { code, stderr } = ended['continued']!;
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(askedBy['limited']! + askedBy['continued']!).toBeLessThanOrEqual(askedBy['unlimited']!);
});

test('the continued run ends with the weights of an uninterrupted one', () => {
  const [continued, unlimited] = ['limited', 'unlimited'].map(
    (name) => readJson(folderOf(name), 'summary.json')['weightsSha256'],
  );
  expect(continued).toMatch(/^[0-9a-f]{64}$/);
  expect(continued).toBe(unlimited);
});
