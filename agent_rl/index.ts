/**
 * The public names of the package.
 *
 * Importing them starts nothing and loads no engine: TensorFlow.js and ONNX Runtime come with the first job.
 */
export * from './core/index.ts';
export { inject } from 'inversify';
export { Type } from 'typebox';

export { builtinPlugins } from './compose/builtin-plugins.ts';
export { type ChosenPlugins, choosePlugins } from './compose/choose-plugins.ts';
export { jobs } from './compose/jobs.ts';
export { loadPlugins } from './compose/plugin-loader.ts';
export { type PreparedRun, prepareRun } from './compose/prepare-run.ts';
export {
  EnvironmentRegistry,
  type Plugins,
  PolicyRegistry,
  RewardRegistry,
  ToolRegistry,
} from './compose/registries.ts';
export type { JobOptions, JobResult, Jobs, TrainingOptions } from './compose/run-options.ts';
export { trainAgent, type TrainAgentOptions } from './compose/train-agent.ts';
export { type Config, loadConfig, type LoadedConfig, validateBlock } from './config/index.ts';

export { CodeExecEnv, MixedEnv, SearchEnv } from './environments/index.ts';
export { HuggingFacePolicy, LanguageModelPolicy, MiniMindPolicy } from './policies/index.ts';
export { CalculatorTool, CodeExecTool, HttpTool, OpenPageTool, SearchTool } from './tools/index.ts';

export * from './rollout/index.ts';
export * from './trainer/index.ts';
export * from '../dataset/index.ts';
export { LANGUAGE_MODEL, type LanguageModel } from '../model/language-model.ts';
