import { parseArgs } from 'node:util';

import { inTemporaryFolder } from '../temporary-folder.ts';
import {
  namesOf,
  note,
  peakRssBytes,
  watchMachine,
  wholeNumber,
  wholeNumbers,
  writeReport,
} from './bench-run.ts';
import { readMedquad } from './retrieval/medquad.ts';
import { measureQuality } from './retrieval/quality.ts';
import { type RetrievalReport, retrievalText } from './retrieval/report.ts';
import { measureSpeed, type SpeedReport } from './retrieval/speed.ts';
import { measureTaskDocuments } from './retrieval/task-documents.ts';

/*
 * How well and how fast a corpus is searched:
 * `npm run bench:retrieval -- [--medquad FOLDER] [--model FOLDER] [--questions N] [--sizes 10000,100000] [--hnsw 100000]
 * [--only quality,speed,tasks] [--json FILE]`. JSON goes to stdout, tables to stderr. `--questions` takes that many
 * at random, all by default. `--model` names the embedding model of quality; without it, word vectors stand in.
 */
const { values } = parseArgs({
  options: {
    medquad: { type: 'string' },
    model: { type: 'string' },
    questions: { type: 'string', default: '0' },
    only: { type: 'string', default: 'quality,speed,tasks' },
    sizes: { type: 'string', default: '10000,100000' },
    hnsw: { type: 'string', default: '' },
    json: { type: 'string' },
  },
});
const only = namesOf('only', values.only, ['quality', 'speed', 'tasks']);
const questions = wholeNumber('questions', values.questions, 0);
const sizes = [
  ...wholeNumbers('sizes', values.sizes).map((size) => ({ size, vectorIndex: 'flat' as const })),
  ...wholeNumbers('hnsw', values.hnsw).map((size) => ({ size, vectorIndex: 'hnsw' as const })),
];

const machineAfter = watchMachine();
await inTemporaryFolder('agent-rl-bench', async (work) => {
  const medquad = values.medquad === undefined ? undefined : await readMedquad(values.medquad);
  const { model } = values;
  const quality =
    medquad === undefined || !only.has('quality')
      ? undefined
      : await measureQuality(medquad, { work, questions, model });
  const tasks = only.has('tasks') ? await measureTaskDocuments() : undefined;
  const speed: SpeedReport[] = [];
  for (const { size, vectorIndex } of only.has('speed') ? sizes : []) {
    note(`Measuring: ${size} passages, ${vectorIndex}`);
    speed.push(await measureSpeed(size, { work, vectorIndex }));
  }
  const report: RetrievalReport = {
    machine: machineAfter(),
    quality,
    speed,
    tasks,
    peakRssBytes: peakRssBytes(),
  };
  writeReport(values.json, report);
  process.stdout.write(`${JSON.stringify(report, null, 1)}\n`);
  note(retrievalText(report));
});
