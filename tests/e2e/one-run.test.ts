import { cpSync, existsSync, readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { beforeAll, describe, expect, test } from '@jest/globals';
import { parseHTML } from 'linkedom';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { rateText } from '#agent_rl/runs/evaluation-table.ts';
import type { SuccessRate } from '#agent_rl/trainer/success-rate.ts';
import { loadModel } from '#model/weights/load-model.ts';
import { weightsSha256 } from '#model/weights/weights-sha256.ts';
import { makeAcmeProject, readJson, readLines, type Line } from '../support/acme-project.ts';
import {
  builtProgram,
  type Ended,
  nodeProgram,
  sets,
  succeeded,
} from '../support/built-program.ts';
import { episodesIn } from '../support/journal.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * One training with a third party's tool, environment and reward, which every command then reads. The tests run in
 * this order: the later ones resume the run.
 */

const project = temporaryFolder();
const elsewhere = temporaryFolder();
const agentRl = residentProgram('agent-rl');
const ran = (...args: string[]): Promise<Ended> => agentRl(args, project);
const run = join(project, 'runs', 'one');
const checkpoint = join(run, 'checkpoints', 'step-2');
const train = (name: string, ...more: string[]): Promise<Ended> =>
  ran('train', '--config', 'train.yaml', ...sets(`run.name=${name}`), ...more);
const resume = (...more: string[]): Promise<Ended> =>
  agentRl(['train', '--resume', run, ...more], elsewhere);

let trained: Ended;
beforeAll(async () => {
  await makeAcmeProject(project);
  trained = await train('one', ...sets('train.finalRatio=0.3'), '--json');
});

describe('A training through YAML alone', () => {
  test('prints its result and warns once about a setting without effect, in the log and the summary too', () => {
    succeeded(trained);
    for (const said of ['held-out success', `Outputs: ${run}`])
      expect(trained.stderr).toContain(said);
    const sentence =
      'train.finalRatio 0.3 (--set train.finalRatio=0.3) has no effect: train.schedule is constant.';
    expect(trained.stderr.split(sentence)).toHaveLength(2);
    expect(trained.stderr).toContain(`Note: ${sentence}`);
    expect(readFileSync(join(run, 'run.log'), 'utf8')).toContain(`warn ${sentence}`);
    expect(readJson(run, 'summary.json')).toMatchObject({ warnings: [sentence] });
  });

  test('records two iterations', async () => {
    expect(readJson(run, 'summary.json')).toMatchObject({
      seed: 7,
      iterations: 2,
      interrupted: false,
      eval: { before: { n: 4 }, after: { n: 4 } },
      sandboxLevel: null,
    });
    expect(readLines(run, 'metrics.jsonl').map(({ iteration }) => iteration)).toEqual([1, 2]);
    const episodes = await episodesIn(run, 'train');
    expect(episodes).toHaveLength(2 * 2 * 4);
    for (const { components, reward } of episodes) {
      const { answer = NaN, vowels = NaN } = components;
      expect(reward).toBeCloseTo(answer + vowels);
    }
  });

  test('changes the weights in a checkpoint, which is a model folder', async () => {
    const { weightsSha256: sha256, checkpoint: saved } = readJson(run, 'summary.json');
    expect(saved).toBe(checkpoint);
    const before = await loadModel(join(project, 'model'));
    const after = await loadModel(checkpoint);
    expect(weightsSha256(after.parameters)).toBe(sha256);
    expect(sha256).not.toBe(weightsSha256(before.parameters));
    expect(existsSync(join(checkpoint, 'tokenizer.json'))).toBe(true);
  });

  test('ends with a report of its success and gives its path to a program', () => {
    const { report } = JSON.parse(trained.stdout) as { report: string };
    expect(report).toBe(join(run, 'report.html'));
    expect(trained.stderr).toContain(`Report: ${report}`);
    expect(statSync(report).size).toBeLessThan(2 ** 20);
    const { document } = parseHTML(readFileSync(report, 'utf8'));
    const rows = [...document.querySelectorAll('tr')].map((row) =>
      [...row.children].map((cell) => cell.textContent),
    );
    const { before, after } = readJson(run, 'summary.json')['eval'] as Record<string, SuccessRate>;
    const total = rows.find(([name]) => name === 'All (without slices)') ?? [];
    expect(total.slice(1, 3)).toEqual([before, after].map((rate) => rate && rateText(rate)));
    expect(document.querySelectorAll('figure').length).toBeGreaterThan(4);
    expect(document.querySelectorAll('article').length).toBeGreaterThan(0);
    expect(document.querySelectorAll('script')).toHaveLength(0);
  });
});

test('agent-rl runs report writes the report again, also for several runs', async () => {
  const copy = join(project, 'runs', 'copy');
  cpSync(run, copy, { recursive: true });
  const stdout = succeeded(
    await ran('runs', 'report', run, copy, '--out', 'both.md', '--format', 'md'),
  );
  expect(stdout).toBe(`Report: ${join(project, 'both.md')}\n`);
  expect(readFileSync(join(project, 'both.md'), 'utf8')).toMatch(/^# 2 runs: one, copy\n/);
});

describe('The command agent-rl eval', () => {
  test('evaluates the newest checkpoint of a run on its held-out tasks, as the run itself did', async () => {
    const result = JSON.parse(succeeded(await ran('eval', run, '--json'))) as Line;
    expect(result).toMatchObject({ model: checkpoint, split: 'eval', n: 4 });
    const { after } = readJson(run, 'summary.json')['eval'] as { after: Line };
    expect(result['rewardMean']).toBe(after['rewardMean']);
  });

  test('evaluates several models on the same tasks and compares them with the first', async () => {
    const start = join(project, 'model');
    const several = [...sets('eval.samples=2', 'eval.temperature=1'), '--json'];
    const { models, ...shared } = JSON.parse(
      succeeded(await ran('eval', run, start, ...several)),
    ) as { models: Line[] } & Line;
    expect(shared).toMatchObject({ config: join(run, 'config.yaml'), split: 'eval', tasks: 4 });
    expect(models).toMatchObject([
      { name: run, model: checkpoint, n: 8 },
      { name: start, model: start, n: 8, difference: { tasks: 4 } },
    ]);
    expect(models[0]).not.toHaveProperty('difference');
    expect(Object.keys(models[1]?.['passAtK'] as object)).toEqual(['1', '2']);
    // A model has the same result alone and beside others.
    const alone = JSON.parse((await ran('eval', run, ...several)).stdout) as Line;
    const { passAtK, avgAtK, intervalsAtK } = alone;
    expect(models[0]).toMatchObject({ passAtK, avgAtK, intervalsAtK });
  });
});

test('agent-rl doctor lists what is missing and keeps drivers from writing between its lines', () => {
  const { code, stdout, stderr } = builtProgram('agent-rl', ['doctor'], project);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^yes {2}sandbox .*, Python \d.*\n(?: +(?:skipped|missing protection): .*\n)* +does not protect against: /m,
  );
  expect(stdout).toMatch(/^yes {2}device cpu +ONNX Runtime, cpu/m);
  expect(stdout).toMatch(/^(yes|no ) {2}device webgpu /m);
  expect(stdout).toContain('The default job can run here.');
});

describe('The command agent-rl plugins', () => {
  interface Listed {
    kind: string;
    name: string;
    source: string;
  }
  const list = (...args: string[]) => ran('plugins', '--json', ...args);
  const names = (stdout: string) =>
    (JSON.parse(stdout) as Listed[])
      .filter(({ source }) => source !== 'built in')
      .map(({ kind, name, source }) => `${kind} ${name} from ${source}`);

  test('lists the package and the file of a run file, both in TypeScript', async () => {
    expect(names(succeeded(await list('--config', 'run.yaml')))).toEqual([
      'tool add from @acme/arithmetic',
      'environment sums from @acme/arithmetic',
      `reward politeness from ${join(project, 'local-reward.ts')}`,
      'reward promptness from @acme/arithmetic',
      'tool-call format shell from @acme/arithmetic',
    ]);
  });

  test('lists a file given with --plugin, which uses the framework that runs it, not a copy', async () => {
    const running = pathToFileURL(join(packageRoot(), 'dist', 'agent_rl', 'index.js')).href;
    const { stdout } = await list('--plugin', './local-reward.ts');
    expect(stdout).toContain(`with ${running}.`);
    expect(names(stdout)).toEqual([`reward politeness from ${join(project, 'local-reward.ts')}`]);
  });

  test('names the place of a mistake in a file', async () => {
    writeBelow(project, 'broken.ts', 'export const a = ;\n');
    const { code, stderr } = await list('--plugin', './broken.ts');
    expect(code).toBe(2);
    expect(stderr).toMatch(/broken\.ts:1:17: ERROR: Unexpected ";"/);
  });
});

test('an isolated TypeScript tool runs in a thread, is stopped when it loops, and fails with its line', () => {
  const dist = pathToFileURL(join(packageRoot(), 'dist', 'agent_rl')).href;
  const installed = join(project, 'node_modules', '@acme', 'arithmetic');
  const files = ['halve-tool.ts', 'call-halve.mjs'];
  for (const name of files) cpSync(join(installed, name), join(project, name));
  const args = [join(project, 'call-halve.mjs'), dist];
  const { stdout, stderr } = nodeProgram(args, project);
  expect(stderr).toBe('');
  const { results, failures } = JSON.parse(stdout) as Record<string, unknown[]>;
  expect(results).toEqual([
    ['ok', '21'],
    ['timeout', 'Error: halve was stopped after 1 s without an answer.'],
  ]);
  // The line of the TypeScript, not of what it is compiled to, there and in the main thread.
  const failure = expect.stringMatching(
    /^Tool "halve" failed \(.*halve-tool\.ts:19:\d+\): below 0$/,
  );
  expect(failures).toEqual([failure, failure]);
});

interface TraceEvent {
  name: string;
  ph: 'M' | 'X';
  tid: number;
  ts: number;
  dur: number;
  args?: { name?: string };
}

test('a run with --profile reports what each thread did and learns the same weights', async () => {
  const output = succeeded(await train('profiled', '--profile'));
  const profiled = join(project, 'runs', 'profiled');
  const file = join(profiled, 'profile.json');
  expect(output).toContain(`Profile: ${file}`);
  const { traceEvents } = readJson(file) as unknown as { traceEvents: TraceEvent[] };
  const threads = new Map(
    traceEvents
      .filter(({ name }) => name === 'thread_name')
      .map(({ tid, args }) => [tid, args!.name!]),
  );
  const spans = traceEvents.filter(({ ph }) => ph === 'X');
  const named = (track: string): string[] =>
    spans.filter(({ tid }) => threads.get(tid)!.startsWith(track)).map(({ name }) => name);
  const phases = 'evaluation before,collect,update,publish,checkpoint,evaluation after';
  expect([...new Set(named('trainer'))].toSorted()).toEqual(phases.split(',').toSorted());
  expect(named('episodes')).toEqual(expect.arrayContaining(['generation', 'grading']));
  expect(named('engine thread')).toContainEqual(expect.stringMatching(/^training on /));
  const collect = spans.find(({ name }) => name === 'collect')!;
  const within = spans.filter(
    ({ name, ts, dur }) =>
      name.startsWith('step of') && ts >= collect.ts && ts + dur <= collect.ts + collect.dur,
  );
  // Each thread has its own clock; the file aligns them.
  expect(within.length).toBeGreaterThan(0);
  const weights = (folder: string) => readJson(folder, 'summary.json')['weightsSha256'];
  expect(weights(profiled)).toBe(weights(run));
  expect(existsSync(join(run, 'profile.json'))).toBe(false);
});

describe('A resume', () => {
  test('continues a run from another folder, keeps overrides and removes what a killed process left', async () => {
    const partial = `checkpoints/step-9.${process.pid}0000.partial/model.safetensors`;
    writeBelow(run, partial, 'torn');
    succeeded(await resume(...sets('train.iterations=3')));
    expect(readFileSync(join(run, 'config.yaml'), 'utf8')).toMatch(/^ {2}iterations: 3$/m);
    expect(existsSync(join(run, partial))).toBe(false);
    expect(existsSync(join(run, 'run.lock'))).toBe(false);
    const log = readFileSync(join(run, 'run.log'), 'utf8');
    expect(log).toContain('.partial: the process that was writing it was killed');
    expect(log).toContain('Setting changed by this resume: train.iterations: 2 -> 3');
    expect(readJson(run, 'summary.json')['iterations']).toBe(3);
  });

  test('leaves a run unchanged that another process is training', async () => {
    const lock = JSON.stringify({ pid: process.pid, host: hostname() });
    const file = writeBelow(run, 'run.lock', lock);
    expect((await resume()).stderr).toMatch(/^OUTPUT_UNWRITABLE: The run .* is in use/m);
    expect(existsSync(file)).toBe(true);
    writeBelow(run, 'run.lock', '');
  });
});
