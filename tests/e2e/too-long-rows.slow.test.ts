import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import type { EpisodeFile } from '#agent_rl/runs/episodes/read-episodes.ts';
import { commandLine } from '../support/command-line.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { readJson } from '../support/acme-project.ts';
import { sets } from '../support/built-program.ts';
import { episodesIn } from '../support/journal.ts';
import { question, questionRunFile } from '../support/question-run.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const run = join(project, 'runs', 'one');

beforeAll(() => writeSmallModel(join(project, 'model')));

const command = (...args: string[]) => commandLine(args, { jobs });

const medium = 'word '.repeat(300);
const skip = sets('dataset.tooLong=skip', 'rollout.maxEpisodeTokens=256');
const tasksIn = async (file: EpisodeFile) =>
  (await episodesIn(run, file)).map(({ taskId }) => taskId);

test('a dry run, a run, its resume and eval leave out rows that are too long and name them', async () => {
  writeBelow(project, 'tasks/train.jsonl', question('1') + question('2', medium) + question('3'));
  writeBelow(project, 'tasks/eval.jsonl', question('4') + question('5', `${medium}5`));
  const file = questionRunFile(project);
  const train = (...args: string[]) => command('train', '--config', file, ...skip, ...args);
  const left = /2 tasks .*: "2" \(\d+ tokens\), "5" \(\d+ tokens\)\./;
  const plan = /tasks +2 to train on, 1 held out, 2 left out as too long/;
  const dry = await train('--dry-run');
  expect([dry.code, dry.stderr]).toEqual([0, '']);
  expect(dry.stdout).toMatch(left);
  expect(dry.stdout).toMatch(plan);

  const eight = sets('rollout.tasksPerStep=4', 'train.iterations=2', 'eval.before=true');
  const begun = await train(...eight, '--max-iterations', '1');
  expect([begun.code, begun.code === 0 ? '' : begun.stderr]).toEqual([0, '']);
  expect(begun.stdout).toMatch(left);
  expect(begun.stdout).toMatch(plan);
  expect(readJson(run, 'summary.json')['leftOut']).toEqual([
    { taskId: '2', tokens: expect.any(Number) },
    { taskId: '5', tokens: expect.any(Number) },
  ]);
  expect(readFileSync(join(run, 'run.log'), 'utf8')).toMatch(left);

  const resumed = ['train', '--resume', run, '--max-iterations', '2'];
  const other = sets('rollout.maxEpisodeTokens=512');
  for (const dryRun of [['--dry-run'], []])
    expect((await command(...resumed, ...other, ...dryRun)).stderr).toMatch(
      /CHECKPOINT_INVALID: .* 2 tasks .* 0\. .*"2", "5"/,
    );
  const { code, stderr } = await command(...resumed);
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  expect(new Set(await tasksIn('train'))).toEqual(new Set(['1', '3']));
  expect(await tasksIn('train')).toHaveLength(16);
  expect(await tasksIn('eval')).toEqual(['4']);

  const best = sets('checkpoint.keepBest=true', 'eval.every=1', 'eval.selectionTasks=1');
  for (const dryRun of [['--dry-run'], []]) {
    const fewer = [...resumed.slice(0, -1), '1', ...dryRun];
    expect((await command(...fewer)).stderr).toMatch(/The run .* 2 iterations/);
    expect((await command(...resumed, ...best, ...dryRun)).stderr).toMatch(
      /CHECKPOINT_INVALID: .* 0 tasks .* now sets 1/,
    );
  }
  const evaluated = await command('eval', run, '--json');
  expect(JSON.parse(evaluated.stdout)).toMatchObject({ tasks: 1, n: 1 });
});
