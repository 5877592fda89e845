import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { writeModelCard } from '#agent_rl/jobs/models/model-card.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

const rate = (successes: number, low: number, high: number) => ({
  n: 100,
  successes,
  successRate: successes / 100,
  failed: 0,
  failedShare: 0,
  interval95: { over: 'tasks', low, high },
  groups: {},
});

/** A run of one checkpoint. @returns the checkpoint */
function runOf(name: string, summary?: object): string {
  const run = join(folder, name);
  const checkpoint = join(run, 'checkpoints', 'step-4');
  mkdirSync(checkpoint, { recursive: true });
  writeBelow(folder, 'data/CARD.md', '|  |  |\n| Licence | CC BY 4.0 |\n');
  writeBelow(
    run,
    'config.yaml',
    `run: { seed: 7 }\nmodel: { path: ${packageRoot()}/model/starter }\ntrain: { mode: rl }\nalgorithm: { name: grpo }\ndatasets: [{ generator: { type: arithmetic } }, { dir: ${folder}/data }]\n`,
  );
  const sha256 = { startModel: 'aa', trainTasks: ['bb'] };
  writeBelow(run, 'inputs.json', JSON.stringify({ sha256 }));
  if (summary !== undefined)
    writeBelow(run, 'summary.json', JSON.stringify({ checkpoint, ...summary }));
  return checkpoint;
}

/** The card of an export of a checkpoint. */
async function cardOf(checkpoint: string, name: string): Promise<string> {
  const exported = join(folder, name);
  mkdirSync(exported);
  await writeModelCard(checkpoint, exported);
  return readFileSync(join(exported, 'README.md'), 'utf8');
}

test('a model card names base model, data, licences, command, seed and held-out success with intervals', async () => {
  const before = { ...rate(20, 0.12, 0.29), groups: { far: rate(1, 0, 0.05) } };
  const after = { ...rate(80, 0.71, 0.87), groups: { far: rate(30, 0.21, 0.4) } };
  const difference = {
    difference: 0.6,
    interval95: { low: 0.5, high: 0.7 },
    groups: { far: { difference: 0.29, interval95: { low: 0.2, high: 0.4 } } },
  };
  const summary = { iterations: 4, weightsSha256: 'dd', eval: { before, after, difference } };
  const card = await cardOf(runOf('whole', summary), 'exported');
  expect(card).toMatch(/^---\nlicense: apache-2\.0\nlibrary_name: agent_rl\n/);
  expect(card.split('\n').filter((line) => line.startsWith('|'))).toEqual([
    '|  |  |  |  |',
    '| --- | --- | --- | --- |',
    '| Base model | starter | SHA-256 aa | licence: apache-2.0 |',
    '| Data | the task generator arithmetic |  | licence: not stated |',
    '| Data | data | SHA-256 bb | licence: CC BY 4.0 |',
    '| Training | rl, grpo |',
    '| Seed | 7 |',
    '| Iterations | 4 |',
    '| Weights | SHA-256 dd | as the summary of the run has it |',
    '| Tasks | Before | After | Change, points |',
    '| --- | --- | --- | --- |',
    '| All tasks, without slices | 20 of 100 = 20.0 % [12.0, 29.0] | 80 of 100 = 80.0 % [71.0, 87.0] | +60.0 [+50.0, +70.0] |',
    '| far | 1 of 100 = 1.0 % [0.0, 5.0] | 30 of 100 = 30.0 % [21.0, 40.0] | +29.0 [+20.0, +40.0] |',
  ]);
  expect(card).toContain('agent-rl train --config training.yaml');
  const training = readFileSync(join(folder, 'exported', 'training.yaml'), 'utf8');
  expect(training).toContain('path: model/starter }');
});

test('a model card of a checkpoint that the run did not end with claims no success', async () => {
  const evaluated = { before: null, after: rate(80, 0.7, 0.9), difference: null };
  const summary = {
    checkpoint: '/elsewhere/step-8',
    iterations: 8,
    weightsSha256: 'dd',
    eval: evaluated,
  };
  const card = await cardOf(runOf('earlier', summary), 'of-earlier');
  expect(card).toContain('Not measured for this checkpoint.');
  expect(card).not.toMatch(/80 of 100|Iterations|SHA-256 dd/);
});

test('a model of no run gets no card', async () => {
  const exported = join(folder, 'of-no-run');
  mkdirSync(exported);
  await writeModelCard(join(folder, 'data'), exported);
  expect(existsSync(join(exported, 'README.md'))).toBe(false);
});

test('a card of supervised training has the success that ended it, or says that nothing was evaluated', async () => {
  const summary = { iterations: 4, weightsSha256: 'dd' };
  const reached = await cardOf(runOf('until', { ...summary, success: 0.8 }), 'card-until');
  expect(reached).toContain('80.0 % of the attempts by which the training was to end.');
  const none = await cardOf(runOf('sft', { ...summary, success: null }), 'card-sft');
  expect(none).toContain('The run did not evaluate.');
});
