import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { sum } from '../../algorithms/statistics.ts';
import { AgentRlError } from '../../core/errors.ts';
import { exportName } from '../../runs/view/export-name.ts';
import type { ViewedRun } from '../../runs/view/viewed-run.ts';
import type { ViewedRuns } from '../../runs/view/viewed-runs.ts';
import { writing } from '../../telemetry/atomic-write.ts';
import { countText } from '../../telemetry/figures.ts';
import type { JobResult } from '../job.ts';
import { pageFiles, readPageFile } from './page-files.ts';

export interface ExportOptions {
  /** Must not exist, or be empty. */
  folder: string;
  /** Training episodes of each run that can be opened, the newest; evaluation episodes all can. */
  mostEpisodes: number;
  page: string;
  print: (text: string) => void;
}

/** Tells the page that its answers are files beside it. */
const mark = '<meta name="agent-rl-export" content="1">';

/**
 * Writes the page with every answer it may ask for as a file, to be opened from any static server or from disk.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export async function exportView(
  runs: ViewedRuns,
  { folder, mostEpisodes, page, print }: ExportOptions,
): Promise<JobResult> {
  const target = resolve(folder);
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new AgentRlError(
      'OUTPUT_UNWRITABLE',
      `${target} is not empty, and the export does not overwrite files. Name a new folder with --export.`,
    );
  print('Reading the runs …');
  await runs.indexAll();
  for (const { otherForm } of runs.all()) if (otherForm !== null) print(`Note: ${otherForm}`);
  const files = new ExportFiles(target);
  files.write('index.html', marked(readPageFile(page, pageFiles['/']!).toString()));
  for (const address of ['/page.js', '/page.css'])
    files.write(address.slice(1), readPageFile(page, pageFiles[address]!));
  for await (const [path, answer] of answersOf(runs, mostEpisodes)) files.answer(path, answer);
  const { count, bytes } = files;
  print(
    `Export: ${join(target, 'index.html')} (${countText(count, 'file')}, ${(bytes / 1e6).toFixed(1)} MB)`,
  );
  const leftOut = sum(runs.all().map((run) => openedOf(run, mostEpisodes).leftOut));
  if (leftOut > 0)
    print(
      `Left out: ${countText(leftOut, 'older training episode')}; the page lists them but cannot open them (--export-episodes).`,
    );
  else if (bytes > largeBytes)
    print(
      'To make the export smaller: --export-episodes N keeps the newest N training episodes of each run.',
    );
  return { folder: target, files: count, bytes, leftOut };
}

/** From this many bytes on, a note says how an export becomes smaller. */
const largeBytes = 50e6;

/** Episodes of a run that can be opened in an export, and how many cannot. */
function openedOf(run: ViewedRun, most: number) {
  const all = run.index.all();
  const leftOut = Math.max(0, run.index.count('train') - most);
  // Training episodes come first, the oldest first.
  return { opened: all.slice(leftOut), leftOut };
}

const marked = (html: string): string => html.replace(/<head[^>]*>/i, (head) => `${head}${mark}`);

class ExportFiles {
  count = 0;
  bytes = 0;

  constructor(private readonly folder: string) {}

  /** As a script: a page that is opened from disk can load one, and no JSON. The JSON stays a text, whatever keys it has. */
  answer(path: string, answer: object): void {
    const [request, text] = [path, JSON.stringify(answer)].map((one) => JSON.stringify(one));
    this.write(exportName(path), `agentRlAnswer(${request},${text});\n`);
  }

  write(name: string, contents: string | Buffer): void {
    const file = join(this.folder, name);
    writing(file, () => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, contents);
    });
    this.count += 1;
    this.bytes += Buffer.byteLength(contents);
  }
}

async function* answersOf(
  runs: ViewedRuns,
  most: number,
): AsyncGenerator<[path: string, answer: object]> {
  yield ['/api/runs', await runs.heads()];
  const all = runs.all();
  const tasks = new Set<string>();
  for (const run of all) {
    yield* answersOfRun(run, most);
    for (const { taskId } of run.tasks()) tasks.add(taskId);
    for (const other of all)
      if (other !== run) yield [`/api/compare?a=${run.id}&b=${other.id}`, runs.compare(run, other)];
  }
  for (const taskId of tasks)
    yield [`/api/tasks/${encodeURIComponent(taskId)}`, await runs.task(taskId)];
}

async function* answersOfRun(
  run: ViewedRun,
  most: number,
): AsyncGenerator<[path: string, answer: object]> {
  const at = `/api/runs/${run.id}`;
  yield [at, run.facts()];
  const metrics = await run.metrics(-Infinity);
  yield [`${at}/metrics`, metrics];
  const { opened, leftOut } = openedOf(run, most);
  yield [`${at}/episodes`, { ...run.everyEpisode(), ...(leftOut > 0 && { leftOut }) }];
  yield [`${at}/tasks`, run.tasks()];
  for (const iteration of metrics.iterations)
    yield [`${at}/timeline?iteration=${iteration}`, await run.timeline(iteration)];
  for (const { row } of opened) {
    const whole = await run.episode(row.id, false);
    if (whole !== undefined) yield [`${at}/episodes/${row.id}`, whole];
  }
}
