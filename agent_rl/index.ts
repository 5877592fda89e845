/**
 * The public names of the package.
 *
 * Importing them starts nothing and loads no engine: TensorFlow.js and ONNX Runtime come with the first job.
 */
export * from './core/index.ts';
export { Type } from 'typebox';

export { builtinPlugins } from './compose/plugins/builtin-plugins.ts';
export {
  type Chosen,
  type ChosenPlugins,
  type ChosenEnvironment,
  type ChosenReward,
  type ChosenTracker,
  choosePlugins,
} from './compose/plugins/choose-plugins.ts';
export { EngineClient } from './engine-thread/engine-client.ts';
export type {
  EngineInfo,
  EngineServiceOptions,
  ModelFacts,
} from './engine-thread/engine-options.ts';
export type { MemoryPlan } from './engine-thread/memory-plan.ts';
export { jobs } from './jobs/jobs.ts';
export { loadPlugins, type LoadPluginsOptions } from './compose/plugins/plugin-loader.ts';
export { type PreparedRun, prepareRun, type PrepareRunOptions } from './compose/prepare-run.ts';
export type { Needs, Plugins } from './compose/plugins/kinds.ts';
export { EnvironmentRegistry, PolicyRegistry, ToolRegistry } from './compose/plugins/registries.ts';
export type { CheckResult, JobContext, JobOptions, JobResult } from './jobs/job.ts';
export type { AttackOptions } from './jobs/attack/attack.ts';
export type { ChatOptions } from './jobs/play/chat.ts';
export type { EvaluationOptions } from './jobs/play/attempt-tasks.ts';
export type { GenerateOptions } from './jobs/token-files/generate.ts';
export type { ExportOptions } from './jobs/models/export-model.ts';
export type { IndexOptions } from './jobs/data/index-corpus.ts';
export type { JudgeCalibrationOptions } from './jobs/data/judge-calibration.ts';
export type { Jobs } from './jobs/jobs.ts';
export type { LocalSandboxType } from './jobs/machine/local-sandbox-type.ts';
export type { MergeLoraOptions } from './jobs/models/merge-lora.ts';
export type { ModelJobOptions } from './jobs/models/model-choice.ts';
export type { QuantizeOptions } from './jobs/models/model-choice.ts';
export type { ScoreOptions } from './jobs/token-files/score.ts';
export type { TrainingOptions } from './jobs/job.ts';
export type { VerifyDatasetOptions } from './jobs/data/verify-dataset-options.ts';
export type { NewProjectOptions } from './jobs/new/new-project.ts';
export type { DemonstrationsOptions } from './jobs/show/demonstrations.ts';
export type { ShowRunOptions } from './jobs/show/show-run.ts';
export type { SandboxDoctorOptions } from './jobs/machine/sandbox-doctor.ts';
export type { ServeModelOptions } from './jobs/serve/serve-model.ts';
export type { ServeSandboxOptions } from './jobs/machine/serve-sandbox.ts';
export type { SandboxTier, SandboxType } from './sandbox/choose-backend.ts';
export type { ModelChoice } from './jobs/models/model-choice.ts';
export type {
  HubSettings,
  PrepareDataOptions,
} from './jobs/data/prepare-data/prepare-data-options.ts';
export type { CrawlSettings } from './search/crawl/index.ts';
export type { ColumnMap } from '../dataset/prepare/readers/mapped-rows.ts';
export type { SourceFormat } from '../dataset/prepare/readers/read-source.ts';
export type { SplitBy } from '../dataset/prepare/split/split-questions.ts';
export { evaluateAgent, type EvaluateAgentOptions } from './jobs/evaluate-agent.ts';
export type {
  Answer,
  AskOptions,
  LoadAgentOptions,
  LoadedAgent,
} from './jobs/code/open-loaded-agent.ts';
export { loadAgent } from './jobs/load-agent.ts';
export {
  trainAgent,
  type TrainAgentOptions,
  type TrainCodeOptions,
  type TrainFileOptions,
  type TrainingControls,
  type TrainingUnderWay,
} from './jobs/train-agent.ts';
export type { TrainingEvent } from './jobs/train/training-events.ts';
export type { AiSdkTool } from './jobs/code/ai-sdk-tools.ts';
export type {
  AgentParts,
  RewardInCode,
  SettingsInCode,
  TasksInCode,
} from './jobs/code/agent-in-code.ts';
export type { AnswerOf, EpisodeOf, OtherFields, TaskOf } from './jobs/code/row-task.ts';
export type { TaskRows } from './jobs/code/task-folder.ts';
export {
  type BlockPlace,
  type Config,
  loadConfig,
  type LoadConfigOptions,
  type LoadedConfig,
  type Location,
  type Override,
  type Place,
  type Places,
  type PluginRequest,
  type ProgramPlugin,
  validateBlock,
  type Problem,
} from './config/index.ts';
export type { MetricName, Metrics } from './telemetry/metric-names.ts';

export {
  CodeExecEnv,
  type CodeExecSettings,
  QuestionEnv,
  type QuestionSettings,
  SearchEnv,
  type SearchSettings,
  ToolChoice,
  WordGameEnv,
  type WordGameSettings,
  WorkspaceEnv,
  type WorkspaceSettings,
} from './environments/index.ts';
export {
  type CodeTargetSettings,
  HermesFormat,
  HuggingFacePolicy,
  LanguageModelPolicy,
  type LanguageModelPolicySettings,
  Llama3Format,
  MiniMindPolicy,
  PlainFormat,
  type PolicyGiven,
  PythonBlockFormat,
  TransformersJsPolicy,
} from './policies/index.ts';
export {
  type CalculatorSettings,
  CalculatorTool,
  CodeExecTool,
  type HttpSettings,
  HttpTool,
  OpenPageTool,
  SearchTool,
  type SearchToolSettings,
} from './tools/index.ts';

export type { ProgramMemory } from './learner/train-batch.ts';
export type { KlInReward } from './algorithms/kl-in-reward.ts';
export * from './rollout/index.ts';
export * from './trainer/index.ts';
export * from '../dataset/index.ts';
export { linearModules, type LinearModule } from './core/services/linear-module.ts';
export type {
  Adapter,
  LinearScaling,
  Llama3Scaling,
  ModelConfig,
  ModelFamily,
  Quantization,
  RopeScaling,
  YarnScaling,
} from '../model/config/architecture.ts';
export type { ParameterCounts } from '../model/adapters/adapter.ts';
export type {
  AfterTurn,
  ChatTemplate,
  PromptPiece,
  RenderOptions,
  SaidMessage,
  TemplateSources,
  ToolDefinition,
} from '../model/text/chat-template.ts';
export { copyLanguageModelFiles, type LanguageModel } from '../model/text/language-model.ts';
export type { EncodedPiece } from '../model/text/encode-pieces.ts';
export type { NewAdapter } from '../model/weights/open-model.ts';
export type { GivenText } from '../model/text/given-text.ts';
export type { Tokenizer } from '../model/text/tokenizer.ts';
