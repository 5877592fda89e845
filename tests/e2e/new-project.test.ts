import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readJson, readLines } from '../support/acme-project.ts';
import { builtProgram, nodeProgram } from '../support/built-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = join(temporaryFolder(), 'converter');

/** As if `npm install` had been run: the packages of this checkout, and this checkout itself. */
function install(): void {
  const modules = join(packageRoot(), 'node_modules');
  const packages = ['@jest/globals', '@types/node', 'jest', 'typescript'];
  const links = packages.map((name) => [name, join(modules, name)] as const);
  for (const [name, target] of [['agent_rl', packageRoot()] as const, ...links]) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(target, link, 'junction');
  }
}

const run = (file: string, ...args: string[]) => nodeProgram([file, ...args], project);
const inModules = (path: string) => join(project, 'node_modules', path);
const fine = { code: 0, stderr: '' };

test('a new project compiles, and its own tests pass', () => {
  expect(builtProgram('agent-rl', ['new', project], packageRoot())).toMatchObject(fine);
  install();
  const compiled = run(inModules('typescript/bin/tsc'));
  expect({ code: compiled.code, stdout: compiled.stdout }).toEqual({ code: 0, stdout: '' });
  const modules = ['--experimental-vm-modules', '--no-warnings'];
  const tested = nodeProgram([...modules, inModules('jest/bin/jest.js')], project);
  expect({ code: tested.code, stderr: tested.code === 0 ? '' : tested.stderr }).toEqual(fine);
  expect(tested.stderr).toMatch(/Test Suites: 4 passed, 4 total/);
});

test('it makes its tasks and demonstrations', () => {
  expect(run('build/data/make-tasks.js')).toMatchObject(fine);
  expect(run('build/data/make-demonstrations.js')).toMatchObject(fine);
  expect(readLines(project, 'tasks', 'train.jsonl')).toHaveLength(480);
  expect(readLines(project, 'tasks', 'eval.jsonl')).toHaveLength(210);
  expect(readLines(project, 'tasks', 'demonstrations.jsonl')).toHaveLength(2400);
});

test('it trains on the demonstrations, and from there by reward', () => {
  const sets = (...settings: string[]) => settings.flatMap((setting) => ['--set', setting]);
  const short = ['train.iterations=1', 'train.warmupSteps=0'];
  const agentRl = (...args: string[]) => builtProgram('agent-rl', args, project);
  const sft = agentRl('sft', '--config', 'sft.yaml', ...sets(...short));
  expect({ code: sft.code, stderr: sft.code === 0 ? '' : sft.stderr }).toEqual(fine);
  const checkpoint = 'runs/sft-seed1/checkpoints/step-1';
  expect(existsSync(join(project, checkpoint))).toBe(true);
  const small = ['rollout.tasksPerStep=2', 'rollout.groupSize=2', 'eval.maxTasks=4'];
  const settings = sets(...short, ...small);
  const { code, stderr } = agentRl(
    'train',
    '--config',
    'grpo.yaml',
    '--model',
    checkpoint,
    ...settings,
  );
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual(fine);
  expect(readJson(join(project, 'runs', 'grpo-seed1'), 'summary.json')).toMatchObject({
    iterations: 1,
    eval: { after: { n: 3, groups: { 'unseen-pair': { n: 1 } } } },
  });
  const episodes = readLines(project, 'runs', 'grpo-seed1', 'trajectories', 'train.jsonl');
  expect(episodes).toHaveLength(4);
});
