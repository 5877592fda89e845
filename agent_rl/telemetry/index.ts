export * from './atomic-write.ts';
export { createLog, type Log } from './create-log.ts';
export * from './jsonl-writer.ts';
export * from './metric-names.ts';
export { type PeakMemory, ProcessTreeMemory, processTreeUsage } from './process-tree.ts';
export * from './progress.ts';
export { redactor } from './redact.ts';
export { Stopwatch } from './stopwatch.ts';
export { visibleControls } from './visible-controls.ts';
