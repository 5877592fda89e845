import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { builtProgram } from '../support/built-program.ts';
import { commandLine } from '../support/command-line.ts';
import { miniMind3Folder } from '../support/minimind3.ts';
import { residentProgram } from '../support/resident-program.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const fixture = join(packageRoot(), 'tests', 'fixtures', 'run-0.1');
const root = temporaryFolder();
const agentRl = residentProgram('agent-rl');
let count = 0;
let project = '';
let run = '';
let checkpoint = '';

beforeEach(async () => {
  project = join(root, String(count++));
  run = join(project, 'runs', 'old');
  checkpoint = join(run, 'checkpoints', 'step-1');
  cpSync(join(fixture, 'project'), project, { recursive: true });
  cpSync(join(fixture, 'run'), run, { recursive: true });
  await writeSmallModel(join(project, 'model'));
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(miniMind3Folder, name), join(checkpoint, name));
  for (const name of ['config.yaml', 'summary.json']) {
    const file = join(run, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('{{project}}', project));
  }
});

const started = process.cwd();
afterEach(() => process.chdir(started));

/** Runs a command in this process, in the project. */
function command(...args: string[]) {
  process.chdir(project);
  return commandLine(args, { jobs });
}
const linesOf = (file: string): Record<string, unknown>[] =>
  readFileSync(join(run, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('a run of version 0.1', () => {
  test('is resumed, with a warning for each old spelling and what could not be checked', () => {
    const before = linesOf('metrics.jsonl');
    const args = ['train', '--resume', run, '--max-iterations', '2', '--json'];
    const resumed = builtProgram('agent-rl', args, project);
    expect(resumed).toMatchObject({ code: 0 });
    expect(JSON.parse(resumed.stdout)).toMatchObject({ iterations: 2, sessions: 2 });
    const metrics = linesOf('metrics.jsonl');
    expect(metrics[0]).toEqual(before[0]);
    expect(metrics.map(({ iteration }) => iteration)).toEqual([1, 2]);
    const log = readFileSync(join(run, 'run.log'), 'utf8');
    expect(log).toContain('which recorded the first data set only: 2 task files');
    expect(`${resumed.stderr}${log}`).toMatch(/dataset\.also/);
    expect(`${resumed.stderr}${log}`).toMatch(/metadata\.apart/);
    const config = parse(readFileSync(join(run, 'config.yaml'), 'utf8')) as {
      datasets: { dir: string }[];
    };
    expect(config.datasets.map(({ dir }) => dir)).toEqual(
      ['tasks', 'more'].map((name) => join(project, name)),
    );
  });

  test('chooses no best checkpoint by tasks it was trained on, nor by held-out ones, and says so', async () => {
    const sets = ['checkpoint.keepBest=true', 'eval.every=1'].flatMap((set) => ['--set', set]);
    const args = ['train', '--resume', run, '--max-iterations', '2', '--json', ...sets];
    for (const last of ['2', '3']) {
      args[args.indexOf('--max-iterations') + 1] = last;
      const resumed = await agentRl(args, project);
      expect({ code: resumed.code, stderr: resumed.code === 0 ? '' : resumed.stderr }).toEqual({
        code: 0,
        stderr: '',
      });
      expect(JSON.parse(resumed.stdout)).toMatchObject({ best: null, selectionTasks: 0 });
    }
    expect(readdirSync(join(run, 'checkpoints'))).not.toContain('best');
    expect(readFileSync(join(run, 'run.log'), 'utf8')).toContain(
      'kept no tasks out of training to choose the best checkpoint by. None is chosen from now on',
    );
  });

  test('is not resumed on other tasks', async () => {
    const file = join(project, 'tasks', 'train.jsonl');
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n`);
    const { code, stderr } = await command('train', '--resume', run, '--max-iterations', '2');
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /CHECKPOINT_INVALID: .*the tasks to train on, now .*tasks\/train\.jsonl/,
    );
  });

  test.each(['the run', 'its checkpoint'])('is evaluated by %s', async (which) => {
    const place = which === 'the run' ? run : checkpoint;
    const evaluated = await command('eval', place, '--json');
    expect(evaluated).toMatchObject({ code: 0 });
    expect(JSON.parse(evaluated.stdout)).toMatchObject({ model: checkpoint, tasks: 2 });
  });

  test('keeps records that today read as they did', () => {
    for (const file of readdirSync(join(run, 'trajectories')))
      expect(linesOf(join('trajectories', file))[0]).toMatchObject({ schema: 1 });
    expect(JSON.parse(readFileSync(join(run, 'summary.json'), 'utf8'))).toMatchObject({
      iterations: 1,
      seed: 7,
    });
  });
});
