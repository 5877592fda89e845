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
 * `npm run bench:retrieval -- [--medquad FOLDER] [--sizes 10000,100000] [--hnsw 100000] [--json FILE]`.
 * JSON goes to stdout, tables to stderr.
 */
const { values } = parseArgs({
  options: {
    medquad: { type: 'string' },
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
const flat = sizesOf('sizes', values.sizes);
const hnsw = sizesOf('hnsw', values.hnsw);
const note = (text: string): void => void process.stderr.write(`${text}\n`);

const loadBefore = loadavg()[0] ?? 0;
const work = mkdtempSync(join(tmpdir(), 'agent-rl-bench-'));
try {
  note('Measuring: documents of a task');
  const tasks = await measureTaskDocuments();
  if (values.medquad !== undefined) note('Measuring: MedQuAD');
  const quality =
    values.medquad === undefined ? undefined : await measureQuality(values.medquad, work);
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
    tasks,
    peakRssBytes: 1024 * process.resourceUsage().maxRSS,
  };
  const json = `${JSON.stringify(report, undefined, 2)}\n`;
  if (values.json !== undefined) writeFileSync(values.json, json);
  process.stdout.write(json);
  note(retrievalText(report));
} finally {
  rmSync(work, { recursive: true, force: true });
}
