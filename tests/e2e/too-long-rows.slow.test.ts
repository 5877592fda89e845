import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import { commandLine } from '../support/command-line.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const runs = join(project, 'runs');

beforeAll(() => writeSmallModel(join(project, 'model')));

const question = (id: string, prompt = `What is ${id}?`): string =>
  `${JSON.stringify({ task_id: id, question: prompt, answer: id })}\n`;

const runFile = (): string =>
  writeBelow(
    project,
    'run.yaml',
    `datasets: [{ dir: ${project}/tasks }]
environment: { type: question }
model: { path: ${project}/model }
run: { outputDir: ${runs}, name: one, engineThreads: 1, previewTasks: 0 }
policy: { maxTurnTokens: 4, maxContextTokens: 512 }
rollout: { maxEpisodeTokens: 512, tasksPerStep: 1, groupSize: 2, workers: 1 }
algorithm: { microBatchTokens: 512 }
train: { iterations: 1 }
eval: { before: false, after: false }
`,
  );

const command = (...args: string[]) => commandLine(args, { jobs });

const medium = 'word '.repeat(300);
const skip = ['--set', 'dataset.tooLong=skip', '--set', 'rollout.maxEpisodeTokens=256'];
const lines = (file: string) =>
  readFileSync(join(runs, 'one', 'trajectories', file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { taskId: string }).taskId);
const state = () =>
  JSON.parse(readFileSync(join(runs, 'one', 'summary.json'), 'utf8')) as Record<string, unknown>;

test('a dry run, a run, its resume and eval leave out rows that are too long and name them', async () => {
  writeBelow(project, 'tasks/train.jsonl', question('1') + question('2', medium) + question('3'));
  writeBelow(project, 'tasks/eval.jsonl', question('4') + question('5', `${medium}5`));
  const file = runFile();
  const train = (...args: string[]) => command('train', '--config', file, ...skip, ...args);
  const left = /2 tasks: "2" \(\d+ tokens\), "5" \(\d+ tokens\)\./;
  const plan = /tasks +2 to train on, 1 held out, 2 left out as too long/;
  const dry = await train('--dry-run');
  expect([dry.code, dry.stderr]).toEqual([0, '']);
  expect(dry.stdout).toMatch(left);
  expect(dry.stdout).toMatch(plan);

  const eight = ['--set', 'rollout.tasksPerStep=4', '--set', 'train.iterations=2'];
  const before = ['--set', 'eval.before=true'];
  const begun = await train(...eight, ...before, '--max-iterations', '1');
  expect([begun.code, begun.code === 0 ? '' : begun.stderr]).toEqual([0, '']);
  expect(begun.stdout).toMatch(left);
  expect(begun.stdout).toMatch(plan);
  expect(state()['leftOut']).toEqual([
    { taskId: '2', tokens: expect.any(Number) },
    { taskId: '5', tokens: expect.any(Number) },
  ]);
  expect(readFileSync(join(runs, 'one', 'run.log'), 'utf8')).toMatch(left);

  const resumed = ['train', '--resume', join(runs, 'one'), '--max-iterations', '2'];
  const other = ['--set', 'rollout.maxEpisodeTokens=512'];
  for (const dryRun of [['--dry-run'], []])
    expect((await command(...resumed, ...other, ...dryRun)).stderr).toMatch(
      /CHECKPOINT_INVALID: .* 2 tasks .* 0; .*"2", "5"/,
    );
  const { code, stderr } = await command(...resumed);
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  expect(new Set(lines('train.jsonl'))).toEqual(new Set(['1', '3']));
  expect(lines('train.jsonl')).toHaveLength(16);
  expect(lines('eval.jsonl')).toEqual(['4']);

  const best = ['checkpoint.keepBest=true', 'eval.every=1', 'eval.selectionTasks=1'];
  const sets = best.flatMap((set) => ['--set', set]);
  for (const dryRun of [['--dry-run'], []]) {
    const fewer = [...resumed.slice(0, -1), '1', ...dryRun];
    expect((await command(...fewer)).stderr).toMatch(/The run .* 2 iterations/);
    expect((await command(...resumed, ...sets, ...dryRun)).stderr).toMatch(
      /CHECKPOINT_INVALID: .* 0 tasks .* now 1 are/,
    );
  }
  const evaluated = await command('eval', join(runs, 'one'), '--json');
  expect(JSON.parse(evaluated.stdout)).toMatchObject({ tasks: 1, n: 1 });
});
