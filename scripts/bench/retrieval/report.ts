import { table } from '../../docs/markdown.ts';
import { fixed, type Machine, machineText, mebibytes } from '../bench-run.ts';
import type { QualityReport } from './quality.ts';
import type { SpeedReport } from './speed.ts';
import type { TaskReport } from './task-documents.ts';

export interface RetrievalReport {
  machine: Machine;
  quality?: QualityReport;
  speed: SpeedReport[];
  tasks?: TaskReport;
  peakRssBytes: number;
}

/** A report as Markdown. */
export function retrievalText(report: RetrievalReport): string {
  const { machine, quality, speed, tasks, peakRssBytes } = report;
  const parts = [
    `${machineText(machine)}, peak resident ${mebibytes(peakRssBytes)}`,
    quality && qualityText(quality),
    speed.length === 0 ? undefined : speedTable(speed),
    tasks &&
      `Documents of a task, ${tasks.documents} each: opened, asked and closed in ${fixed(tasks.p50Ms, 1)} ms (p50), ${fixed(tasks.p95Ms, 1)} ms (p95); 64 at once ${fixed(tasks.perSecond)} a second; memory grew by ${fixed(tasks.grownMiB, 1)} MiB over ${tasks.episodes} of them`,
  ];
  return `${parts.filter((part) => part !== undefined).join('\n\n')}\n`;
}

const qualityText = ({ sets, results }: QualityReport): string =>
  [
    'MedQuAD, vectors by a stand-in: sums of a random vector for each word',
    ...sets.map(
      ({ documents, count, passages, indexS }) =>
        `${documents}: ${count} documents, ${passages} passages, indexed in ${fixed(indexS, 1)} s`,
    ),
    '',
    table(
      ['Documents', 'Way', 'Questions', 'Recall@1', 'Recall@10', 'MRR@10'],
      results.map(({ documents, way, questions, ...measures }) => [
        documents,
        way,
        String(questions),
        ...[measures.recallAt1, measures.recallAt10, measures.mrrAt10].map((one) => fixed(one, 3)),
      ]),
    ),
  ].join('\n');

const speedTable = (speed: readonly SpeedReport[]): string =>
  table(
    [
      'Passages',
      'Vectors',
      'Index s (of it vectors)',
      'Way',
      'p50 ms',
      'p95 ms',
      'a second at 8, 64, 200 at once',
      'Recall@10',
    ],
    speed.flatMap(({ passages, vectorIndex, indexS, embedS, latencies }) =>
      latencies.map(({ way, p50Ms, p95Ms, atOnce, recallAt10 }) => [
        String(passages),
        vectorIndex,
        `${fixed(indexS, 1)} (${fixed(embedS, 1)})`,
        way,
        fixed(p50Ms, 1),
        fixed(p95Ms, 1),
        atOnce.map(({ perSecond }) => fixed(perSecond)).join(', '),
        fixed(recallAt10, 2),
      ]),
    ),
  );
