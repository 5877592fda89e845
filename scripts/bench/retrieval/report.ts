import type { QualityReport } from './quality.ts';
import type { SpeedReport } from './speed.ts';
import type { TaskReport } from './task-documents.ts';

export interface RetrievalReport {
  machine: {
    processor: string;
    processors: number;
    node: string;
    loadBefore: number;
    loadAfter: number;
  };
  quality?: QualityReport;
  speed: readonly SpeedReport[];
  tasks?: TaskReport;
  peakRssBytes: number;
}

const fixed = (value: number, digits = 1): string => value.toFixed(digits);

/** Tables of a report, as Markdown. */
export function retrievalText({
  machine,
  quality,
  speed,
  tasks,
  peakRssBytes,
}: RetrievalReport): string {
  return [
    `${machine.processor}, ${machine.processors} processors, Node ${machine.node}, load ${fixed(machine.loadBefore)} before and ${fixed(machine.loadAfter)} after, peak resident ${fixed(peakRssBytes / 2 ** 20, 0)} MiB`,
    ...(quality === undefined ? [] : qualityLines(quality)),
    ...(speed.length === 0 ? [] : speedLines(speed)),
    ...(tasks === undefined ? [] : taskLines(tasks)),
    '',
  ].join('\n');
}

const taskLines = (tasks: TaskReport): string[] => [
  '',
  `Documents of a task, ${tasks.documents} each: opened, asked and closed in ${fixed(tasks.p50Ms)} ms (p50), ${fixed(tasks.p95Ms)} ms (p95); 64 at once ${fixed(tasks.perSecond, 0)} a second; memory grew by ${fixed(tasks.grownMiB)} MiB over ${tasks.episodes} of them`,
];

const qualityLines = ({ standIn, sets, results }: QualityReport): string[] => [
  '',
  `MedQuAD, vectors by a stand-in: ${standIn}`,
  ...sets.map(
    ({ documents, count, passages, indexS }) =>
      `${documents}: ${count} documents, ${passages} passages, indexed in ${fixed(indexS)} s`,
  ),
  '',
  '| Documents | Way | Questions | Recall@1 | Recall@10 | MRR@10 |',
  '| --- | --- | --- | --- | --- | --- |',
  ...results.map(
    ({ documents, way, questions, recallAt1, recallAt10, mrrAt10 }) =>
      `| ${documents} | ${way} | ${questions} | ${fixed(recallAt1, 3)} | ${fixed(recallAt10, 3)} | ${fixed(mrrAt10, 3)} |`,
  ),
];

const speedLines = (speed: readonly SpeedReport[]): string[] => [
  '',
  '| Passages | Vectors | Index s (of it vectors) | Way | p50 ms | p95 ms | a second at 8, 64, 200 at once | Recall@10 |',
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
  ...speed.flatMap(({ passages, vectorIndex, indexS, embedS, latencies }) =>
    latencies.map(
      ({ way, p50Ms, p95Ms, atOnce, recallAt10 }) =>
        `| ${passages} | ${vectorIndex} | ${fixed(indexS)} (${fixed(embedS)}) | ${way} | ${fixed(p50Ms)} | ${fixed(p95Ms)} | ${atOnce.map(({ perSecond }) => fixed(perSecond, 0)).join(', ')} | ${fixed(recallAt10, 2)} |`,
    ),
  ),
];
