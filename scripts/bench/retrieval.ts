import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { measureQuality } from './retrieval/quality.ts';
import { type RetrievalReport, retrievalText } from './retrieval/report.ts';
import { measureSpeed, type SpeedReport } from './retrieval/speed.ts';
import { measureTaskDocuments } from './retrieval/task-documents.ts';

/*
 * How well and how fast a corpus is searched:
 * `npm run bench:retrieval -- [--medquad FOLDER] [--questions N] [--sizes 10000,100000] [--hnsw 100000]
 * [--only quality,speed,tasks] [--json FILE]`. JSON goes to stdout, tables to stderr. `--questions` takes that many at random,
 * all by default.
 */
const { values } = parseArgs({
  options: {
    medquad: { type: 'string' },
    questions: { type: 'string', default: '0' },
    only: { type: 'string', default: 'quality,speed,tasks' },
    sizes: { type: 'string', default: '10000,100000' },
    hnsw: { type: 'string', default: '' },
    json: { type: 'string' },
  },
});
const sizesOf = (flag: string, text: string): number[] =>
  text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const size = Number(part);
      if (Number.isInteger(size) && size > 0) return size;
      throw new TypeError(`--${flag} ${text}: expected whole numbers from 1, with commas between.`);
    });
const only = new Set(values.only.split(','));
const flat = only.has('speed') ? sizesOf('sizes', values.sizes) : [];
const hnsw = only.has('speed') ? sizesOf('hnsw', values.hnsw) : [];
const note = (text: string): void => void process.stderr.write(`${text}\n`);

const loadBefore = loadavg()[0] ?? 0;
const work = mkdtempSync(join(tmpdir(), 'agent-rl-bench-'));
try {
  const quality =
    values.medquad === undefined || !only.has('quality')
      ? undefined
      : await measureQuality(values.medquad, { work, questions: Number(values.questions), note });
  const tasks = only.has('tasks') ? await measureTaskDocuments() : undefined;
  const speed: SpeedReport[] = [];
  for (const [sizes, approximate] of [
    [flat, false],
    [hnsw, true],
  ] as const) {
    for (const size of sizes) {
      note(`Measuring: ${size} passages, ${approximate ? 'HNSW' : 'flat'}`);
      speed.push(await measureSpeed(size, { work, hnsw: approximate }));
    }
  }
  const report: RetrievalReport = {
    machine: {
      processor: cpus()[0]?.model.trim() ?? 'unknown',
      processors: availableParallelism(),
      node: process.versions.node,
      loadBefore,
      loadAfter: loadavg()[0] ?? 0,
    },
    ...(quality === undefined ? {} : { quality }),
    speed,
    ...(tasks === undefined ? {} : { tasks }),
    peakRssBytes: 1024 * process.resourceUsage().maxRSS,
  };
  const json = `${JSON.stringify(report, undefined, 2)}\n`;
  if (values.json !== undefined) writeFileSync(values.json, json);
  process.stdout.write(json);
  note(retrievalText(report));
} finally {
  rmSync(work, { recursive: true, force: true });
}
