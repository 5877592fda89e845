export { writeFileAtomic, writeFolderAtomic } from './atomic-write.ts';
export {
  createLog,
  type CreateLogOptions,
  type Log,
  type LogLevel,
  silentLog,
} from './create-log.ts';
export { JsonlWriter } from './jsonl-writer.ts';
export { metricDefinition, type MetricName, metricNames, type Metrics } from './metric-names.ts';
export { MetricsWriter } from './metrics-writer.ts';
export { outputUnwritable } from './output-unwritable.ts';
export { type PeakMemory, ProcessTreeMemory } from './process-tree-memory.ts';
export { type ProcessUsage, processTreeUsage } from './process-tree.ts';
export { createProgress, durationText, type LiveNumbers, type Progress } from './progress.ts';
export { type Redact, redactor } from './redact.ts';
export { createRunFolder, type RunFolder, runFolderAt } from './run-folder.ts';
export { Stopwatch } from './stopwatch.ts';
