import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

import { parse, stringify } from 'yaml';

import { packageRoot } from '../agent_rl/core/package-root.ts';
import type { Part, Rollout } from '../agent_rl/core/rollout.ts';
import type { JournalEvent } from '../agent_rl/core/services/journal.ts';
import type { NumberedEvent } from '../agent_rl/runs/journal/event-frame.ts';
import { readSegment, segmentsOf } from '../agent_rl/runs/journal/segments.ts';
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

/** What checks read of a journal; no tokens and no text that they do not look at. */
function slim({ data, ...event }: NumberedEvent): JournalEvent[] {
  const { type, when, iteration, round, slot, sample, agent } = event;
  const place = { type, when, iteration, round, slot, sample, agent } as JournalEvent;
  if (type === 'session') return [{ type, data: chosen(data, ['schema', 'from', 'voids']) }];
  if (when !== 'train') return [];
  if (type === 'iteration') return [place];
  const ofLearned = ['run', 'taskId', 'use', 'advantage', 'groupReward'];
  if (type === 'learned') return [{ ...place, data: { ...chosen(data, ofLearned), sent: [] } }];
  if (type !== 'rollout') return [];
  const { parts } = data as unknown as Pick<Rollout, 'parts'>;
  const kept = chosen(data, ['run', 'taskId', 'slice', 'step', 'problem']);
  return [{ ...place, data: { ...kept, parts: parts.map(slimPart) } }];
}

const slimPart = (part: Part) => ({
  ...chosen(part, ['agent', 'policy', 'learns', 'messages', 'turns', 'malformedCalls']),
  ...chosen(part, ['outcome', 'success', 'reward', 'scores']),
  calls: part.calls.map(({ call: { name }, status }) => ({
    call: { id: '', name },
    status,
    result: {},
    wallMs: 0,
  })),
  // A span that consists of no generation has zeros for its tokens.
  sequences: part.sequences.map(({ spans }) => ({ spans, drawn: spans.map(() => []) })),
  components: {},
  metrics: {},
});

const chosen = (record: object = {}, names: readonly string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));

function damaged(problem: string): never {
  throw new Error(problem);
}

async function journalOf(folder: string): Promise<JournalEvent[]> {
  const segments = segmentsOf(folder).map((segment) => readSegment(segment, damaged));
  return (await Promise.all(segments)).flat().flatMap(slim);
}

async function pack({ name }: SickRun): Promise<void> {
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
  };
  const events = await journalOf(of('journal'));
  mkdirSync(packed, { recursive: true });
  writeFileSync(
    join(packed, `${name}.json.gz`),
    gzipSync(JSON.stringify({ files, events }), { level: 9 }),
  );
}

prepare();
for (const run of sickRuns.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  train(run);
  await pack(run);
}
