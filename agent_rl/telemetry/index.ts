export { writeFileAtomic, writeFolderAtomic } from './atomic-write.ts';
export { createLog, type Log } from './create-log.ts';
export { JsonlWriter } from './jsonl-writer.ts';
export { metricDefinition, metricNames, type Metrics } from './metric-names.ts';
export { MetricsWriter } from './metrics-writer.ts';
export { type PeakMemory, ProcessTreeMemory } from './process-tree-memory.ts';
export { processTreeUsage } from './process-tree.ts';
export {
  createProgress,
  durationText,
  type LiveNumbers,
  type Progress,
  withProgress,
} from './progress.ts';
export { redactor } from './redact.ts';
export { Stopwatch } from './stopwatch.ts';
export { visibleControls } from './visible-controls.ts';
