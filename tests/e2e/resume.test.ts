import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { makeAcmeProject, readJson } from '../support/acme-project.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const elsewhere = temporaryFolder();
const agentRl = residentProgram('agent-rl');
const run = join(project, 'runs', 'one');
const resume = (...more: string[]) => agentRl(['train', '--resume', run, ...more], elsewhere);

beforeAll(async () => {
  await makeAcmeProject(project);
  const flags = 'train --config train.yaml --set run.name=one --set train.iterations=1'.split(' ');
  const { code, stderr } = await agentRl(flags, project);
  if (code !== 0) throw new Error(stderr);
});

test('a run resumes from another folder, keeps what is overridden, and is cleared of what a killed process left', async () => {
  const partial = `checkpoints/step-9.${process.pid}0000.partial/model.safetensors`;
  writeBelow(run, partial, 'torn');
  const { code, stderr } = await resume('--set', 'train.iterations=2');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(readFileSync(join(run, 'config.yaml'), 'utf8')).toMatch(/^ {2}iterations: 2$/m);
  expect(existsSync(join(run, partial))).toBe(false);
  expect(existsSync(join(run, 'run.lock'))).toBe(false);
  const log = readFileSync(join(run, 'run.log'), 'utf8');
  expect(log).toContain('is removed: the process that was writing it was killed');
  expect(log).toContain('From now on train.iterations: 1 -> 2');
  expect(readJson(run, 'summary.json')['iterations']).toBe(2);
});

test('a run keeps the tasks its best checkpoint is chosen by out of training, also when it is resumed', async () => {
  const best = join(project, 'runs', 'best');
  const sets = ['checkpoint.keepBest=true', 'eval.selectionTasks=2', 'eval.every=1'];
  const flags = [...sets, 'run.name=best', 'train.iterations=3'].flatMap((set) => ['--set', set]);
  const begun = await agentRl(
    ['train', '--config', 'train.yaml', '--max-iterations', '1', ...flags],
    project,
  );
  expect(begun.code === 0 ? '' : begun.stderr).toBe('');
  expect(`${begun.stdout}${begun.stderr}`).toContain('2 kept out of training to choose the best');
  const onwards = ['train', '--resume', best, '--max-iterations', '3'];
  const { code, stderr } = await agentRl(onwards, elsewhere);
  expect(code === 0 ? '' : stderr).toBe('');
  const tasksOf = (file: string, isWanted: (line: Record<string, unknown>) => boolean) =>
    readFileSync(join(best, 'trajectories', file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(isWanted)
      .map(({ taskId }) => String(taskId));
  const chosenBy = tasksOf('eval.jsonl', ({ when }) => when === 'selection');
  expect(chosenBy).toHaveLength(6);
  expect(new Set(chosenBy).size).toBe(2);
  const trained = new Set(tasksOf('train.jsonl', () => true));
  expect(chosenBy.filter((id) => trained.has(id))).toEqual([]);
  expect(readJson(best, 'summary.json')).toMatchObject({ selectionTasks: 2, best: {} });
  const other = await agentRl(
    ['train', '--resume', best, '--max-iterations', '4', '--set', 'eval.selectionTasks=1'],
    elsewhere,
  );
  expect(other.stderr).toMatch(/^CHECKPOINT_INVALID: The run holds out 2 tasks /m);
});

test('a run that another process works on is left alone', async () => {
  const lock = writeBelow(run, 'run.lock', JSON.stringify({ pid: process.pid, host: hostname() }));
  const { stderr } = await resume();
  expect(stderr).toMatch(/^OUTPUT_UNWRITABLE: The run .* is in use/m);
  expect(existsSync(lock)).toBe(true);
  writeBelow(run, 'run.lock', '');
});

test('a run whose tasks were changed is not continued', async () => {
  const tasks = /^ {2}- dir: (.+)$/m.exec(readFileSync(join(run, 'config.yaml'), 'utf8'))?.[1];
  appendFileSync(join(String(tasks), 'train.jsonl'), '\n');
  const { stderr } = await resume();
  expect(stderr).toMatch(/^CHECKPOINT_INVALID: .*by SHA-256, is the tasks to train on/m);
});
