/**
 * Training, evaluating and loading agents from code. The plugin API is in `agent_rl/plugin`.
 *
 * Importing this starts nothing and loads no engine: TensorFlow.js and ONNX Runtime come with the first job.
 */
export {
  trainAgent,
  type TrainAgentOptions,
  type TrainCodeOptions,
  type TrainFileOptions,
  type TrainingControls,
  type TrainingUnderWay,
} from './jobs/train-agent.ts';
export type {
  AgentParts,
  RewardInCode,
  SettingsInCode,
  TasksInCode,
} from './jobs/code/agent-in-code.ts';
export type { AnswerOf, EpisodeOf, TaskOf } from './jobs/code/row-task.ts';
export type { TaskRows } from './jobs/code/task-folder.ts';
export { evaluateAgent, type EvaluateAgentOptions } from './jobs/evaluate-agent.ts';
export { loadAgent } from './jobs/load-agent.ts';
export type {
  Answer,
  AskOptions,
  LoadAgentOptions,
  LoadedAgent,
} from './jobs/code/open-loaded-agent.ts';
export { defineTool, type FunctionTool, type ToolPlugin } from './core/plugins/define-tool.ts';
export type { InputSchema, StandardSchema } from './core/wire/standard-schema.ts';
export type { AiSdkTool } from './jobs/code/ai-sdk-tools.ts';
export { mcp } from './jobs/code/mcp.ts';

export { jobs, type Jobs } from './jobs/jobs.ts';
export type { JobResult } from './jobs/job.ts';
export type { PreparedRun, PrepareRunOptions } from './compose/prepare-run.ts';
export { prepareRun } from './jobs/prepare-run.ts';
export type { Config } from './config/config-schema.ts';
export { loadConfig, type LoadConfigOptions, type LoadedConfig } from './config/load-config.ts';

export { AgentRlError } from './core/errors.ts';
export type { ErrorCode } from './core/error-catalogue.ts';
export type { Message } from './core/message.ts';
export type { Part, Rollout } from './core/rollout.ts';
export type { MetricName, Metrics } from './telemetry/metric-names.ts';
export type { Evaluation } from './trainer/evaluate.ts';

export { AsyncRolloutWorker, RolloutWorker } from './rollout/rollout-worker.ts';
export { trainGrpo } from './trainer/train-grpo.ts';
export { type SftRun, type SftState, trainSft } from './trainer/train-sft.ts';
export type { GrpoRun, TrainingEvent, TrainingResult } from './trainer/trainer-contracts.ts';
export { CodeTaskDataset, loadCodeTaskSplits } from '../dataset/tasks/code-task-dataset.ts';
export { CodeTaskSampler } from '../dataset/tasks/plan/code-task-sampler.ts';
export { loadSearchTaskSplits, SearchTaskDataset } from '../dataset/tasks/search-task-dataset.ts';
