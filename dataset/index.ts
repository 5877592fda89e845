export {
  CodeTaskDataset,
  codeTaskFormats,
  isCodeTaskFormat,
  loadCodeTaskSplits,
  type CodeTaskFormat,
  type CodeTaskSplits,
} from './tasks/code-task-dataset.ts';
export * from './tasks/mixed-sampler.ts';
export { TaskDataset, type TaskSplits } from './tasks/read-tasks.ts';
export { QuestionDataset } from './tasks/question-dataset.ts';
export type { TableReading } from './tables/table-reading.ts';
export {
  loadSearchTaskSplits,
  SearchTaskDataset,
  type SearchTaskSplits,
} from './tasks/search-task-dataset.ts';
export * from './tasks/task-sampler.ts';
