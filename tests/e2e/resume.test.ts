import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { makeAcmeProject, readJson } from '../support/acme-project.ts';
import { builtProgram } from '../support/built-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const elsewhere = temporaryFolder();
const run = join(project, 'runs', 'one');
const resume = (...more: string[]) =>
  builtProgram('agent-rl', ['train', '--resume', run, ...more], elsewhere);

beforeAll(async () => {
  await makeAcmeProject(project);
  const flags = 'train --config train.yaml --set run.name=one --set train.iterations=1'.split(' ');
  const { code, stderr } = builtProgram('agent-rl', flags, project);
  if (code !== 0) throw new Error(stderr);
});

test('a run resumes from another folder, keeps what is overridden, and is cleared of what a killed process left', () => {
  const partial = `checkpoints/step-9.${process.pid}0000.partial/model.safetensors`;
  writeBelow(run, partial, 'torn');
  const { code, stderr } = resume('--set', 'train.iterations=2');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(readFileSync(join(run, 'config.yaml'), 'utf8')).toMatch(/^ {2}iterations: 2$/m);
  expect(existsSync(join(run, partial))).toBe(false);
  expect(existsSync(join(run, 'run.lock'))).toBe(false);
  const log = readFileSync(join(run, 'run.log'), 'utf8');
  expect(log).toContain('is removed: the process that was writing it was killed');
  expect(log).toContain('From now on train.iterations: 1 -> 2');
  expect(readJson(run, 'summary.json')['iterations']).toBe(2);
});

test('a run that another process works on is left alone', () => {
  const lock = writeBelow(run, 'run.lock', JSON.stringify({ pid: process.pid, host: hostname() }));
  const { stderr } = resume();
  expect(stderr).toMatch(/^OUTPUT_UNWRITABLE: The run .* is in use/m);
  expect(existsSync(lock)).toBe(true);
  writeBelow(run, 'run.lock', '');
});

test('a run whose tasks were changed is not continued', () => {
  const tasks = /^ {2}- dir: (.+)$/m.exec(readFileSync(join(run, 'config.yaml'), 'utf8'))?.[1];
  appendFileSync(join(String(tasks), 'train.jsonl'), '\n');
  const { stderr } = resume();
  expect(stderr).toMatch(/^CHECKPOINT_INVALID: .*by SHA-256, is the tasks to train on/m);
});
