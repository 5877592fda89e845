import { table } from '../../docs/markdown.ts';
import { fixed, type Machine, machineText, mebibytes } from '../bench-run.ts';
import { measuredText } from './by-page.ts';
import type { QualityReport } from './quality.ts';
import type { SpeedReport } from './speed.ts';
import type { TaskReport } from './task-documents.ts';

export interface RetrievalReport {
  machine: Machine;
  quality?: QualityReport | undefined;
  speed: SpeedReport[];
  tasks?: TaskReport | undefined;
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

const qualityText = ({ vectors, titleInQuestion, sets, results }: QualityReport): string =>
  [
    `MedQuAD, vectors by ${vectors}; ${fixed(100 * titleInQuestion)} % of questions hold their page's title word for word`,
    ...sets.map(
      ({ documents, count, passages, indexS, residentBytes }) =>
        `${documents}: ${count} documents, ${passages} passages, indexed in ${fixed(indexS, 1)} s, ${mebibytes(residentBytes)} resident after it`,
    ),
    '',
    table(
      [
        'Documents',
        'Way',
        'Questions',
        'Recall@1',
        'Recall@10',
        'MRR@10',
        'MRR@10 less that of BM25',
        'p50, p95 ms',
      ],
      results.map((result) => [
        result.documents,
        result.way,
        String(result.questions),
        ...[result.recallAt1, result.recallAt10, result.mrrAt10].map(measuredText),
        result.mrrGain === undefined ? '' : measuredText(result.mrrGain),
        `${fixed(result.p50Ms, 1)}, ${fixed(result.p95Ms, 1)}`,
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
