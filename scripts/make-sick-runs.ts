import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

import { parse, stringify } from 'yaml';

import { packageRoot } from '../agent_rl/core/package-root.ts';
import { sickLength, type SickRun, sickRuns } from './sick-runs/sick-runs.ts';

/*
 * Trains runs that go wrong on purpose, and packs what explain reads of them into tests/fixtures/sick-runs:
 *
 *   agent-rl new my-agent && cd my-agent && npm install && npm run learn
 *   node dist/scripts/make-sick-runs.js my-agent [NAME …]
 */

const [given, ...wanted] = process.argv.slice(2);
if (given === undefined)
  throw new Error('Give the folder of a project that agent-rl new made and that has been trained.');
const project = resolve(given);
const packed = join(packageRoot(), 'tests', 'fixtures', 'sick-runs');
const program = join(packageRoot(), 'dist', 'scripts', 'agent-rl.js');

const below = (...path: string[]): string => join(project, ...path);
const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');

/** Plugins, a split with one task, and the rival's weights. */
function prepare(): void {
  const source = join(packageRoot(), 'scripts', 'sick-runs');
  for (const file of ['sick-plugins.ts', 'lying-tool.ts'])
    copyFileSync(join(source, file), below('plugins', file));
  const others = ['conversions-environment', 'extra-calls-reward', 'lying-tool'];
  const exported = others.map((file) => `export * from './${file}.ts';\n`);
  writeFileSync(below('plugins', 'with-lying-tool.ts'), exported.join(''));
  const [task = ''] = linesOf(below('tasks', 'train.jsonl'));
  const repeated = Array.from({ length: 64 }, (_, index) =>
    JSON.stringify({ ...(JSON.parse(task) as object), task_id: `one-${index}` }),
  );
  writeFileSync(below('tasks', 'one-task.jsonl'), `${repeated.join('\n')}\n`);
}

function newestCheckpoint(run: string): string {
  const folder = below('runs', run, 'checkpoints');
  const [newest = ''] = readdirSync(folder).toSorted(
    (a, b) => Number(b.slice(5)) - Number(a.slice(5)),
  );
  return join(folder, newest);
}

function train({ name, sets }: SickRun): void {
  const rival = newestCheckpoint('grpo-seed1');
  const text = JSON.stringify({ ...sickLength, 'run.name': `sick-${name}`, ...sets });
  const nested = Object.entries(JSON.parse(text.replace('runs/rival', rival)) as object);
  const file: Record<string, unknown> = { extends: 'grpo.yaml' };
  for (const [path, value] of nested) {
    const keys = path.split('.');
    let block = file;
    for (const key of keys.slice(0, -1)) block = (block[key] ??= {}) as Record<string, unknown>;
    block[keys.at(-1) ?? ''] = value;
  }
  writeFileSync(below(`sick-${name}.yaml`), stringify(file));
  const words = [program, 'train', '--config', `sick-${name}.yaml`, '--quiet'];
  // Runs that get worse exit with 1.
  const { status } = spawnSync(process.execPath, words, { cwd: project, stdio: 'inherit' });
  if (status !== 0 && status !== 1) throw new Error(`${name} ended with ${status}.`);
}

/** What checks read of an episode; no tokens and no text that they do not look at. */
function slim(line: string): string {
  const episode = JSON.parse(line) as Record<string, unknown>;
  const kept = ['schema', ...keyNames, 'policy', 'learns', 'slice', 'step', 'problem'];
  const more = ['messages', 'turns', 'malformedCalls', 'outcome', 'success', 'reward'];
  const calls = episode['toolCalls'] as { name: string; status: string }[];
  const sequences = episode['sequences'] as { spans: unknown }[];
  return JSON.stringify({
    ...chosen(episode, [...kept, ...more, 'scores', 'groupReward']),
    toolCalls: calls.map(({ name, status }) => ({ id: '', name, status, wallMs: 0 })),
    sequences: sequences.map(({ spans }) => ({ tokens: [], spans, logProbs: [] })),
    components: {},
    metrics: {},
  });
}

const keyNames = ['run', 'when', 'iteration', 'round', 'slot', 'sample', 'agent', 'taskId'];

const chosen = (record: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, record[name]]));

function pack({ name }: SickRun): void {
  const of = (file: string): string => below('runs', `sick-${name}`, file);
  // Fixtures hold no paths of the machine that made them.
  const config = stringify(
    JSON.parse(
      JSON.stringify(parse(readFileSync(of('config.yaml'), 'utf8'))).replaceAll(project, '.'),
    ),
  );
  const {
    seed,
    iterations,
    eval: evaluations,
    trainedParameters,
  } = JSON.parse(readFileSync(of('summary.json'), 'utf8')) as Record<string, unknown>;
  const files = {
    'config.yaml': config.replaceAll(packageRoot(), '.'),
    'metrics.jsonl': readFileSync(of('metrics.jsonl'), 'utf8'),
    'summary.json': JSON.stringify({ seed, iterations, eval: evaluations, trainedParameters }),
    'trajectories/train.jsonl': `${linesOf(of('trajectories/train.jsonl')).map(slim).join('\n')}\n`,
    'trajectories/learned.jsonl': `${linesOf(of('trajectories/learned.jsonl'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .map((one) => Object.assign(chosen(one, [...keyNames, 'use', 'advantage']), { sent: [] }))
      .map((one) => JSON.stringify(one))
      .join('\n')}\n`,
  };
  mkdirSync(packed, { recursive: true });
  writeFileSync(join(packed, `${name}.json.gz`), gzipSync(JSON.stringify(files), { level: 9 }));
}

prepare();
for (const run of sickRuns.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  train(run);
  pack(run);
}
