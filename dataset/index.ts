export {
  CodeTaskDataset,
  codeTaskFormats,
  isCodeTaskFormat,
  loadCodeTaskSplits,
  type CodeTaskFormat,
  type CodeTaskSplits,
} from './tasks/code-task-dataset.ts';
export { EndlessPlan, type EndlessTasks } from './tasks/plan/endless-plan.ts';
export { MixedPlan, type WeightedTasks } from './tasks/plan/mixed-plan.ts';
export { TaskDataset, type TaskSplits } from './tasks/read-tasks.ts';
export { QuestionDataset } from './tasks/question-dataset.ts';
export type { TableReading } from './tables/table-reading.ts';
export {
  loadSearchTaskSplits,
  SearchTaskDataset,
  type SearchTaskSplits,
} from './tasks/search-task-dataset.ts';
export { CodeTaskSampler } from './tasks/plan/code-task-sampler.ts';
export {
  EpochPlan,
  type TaskPlan,
  type TaskPlanOptions,
  type TaskPlanState,
} from './tasks/plan/task-plan.ts';
export type { WorkspaceRow } from './workspace_tasks/generator/task.ts';
export { WorkspaceTasks, type WorkspaceTaskSettings } from './workspace_tasks/workspace-tasks.ts';
