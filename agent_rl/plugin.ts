/**
 * The plugin API: for each kind a decorator and the types of its contract, and the services that plugins receive.
 *
 * Importing this starts nothing and loads no engine.
 */
export type { Static } from 'typebox';
export { Type } from './core/typebox.ts';

export {
  tool,
  type Tool,
  type ToolContext,
  type ToolResult,
  type ToolSpec,
} from './core/plugins/tool.ts';
export type { AgentContext, AgentFunction } from './core/plugins/agent.ts';
export { agent, type AgentSpec } from './environments/external/agent.ts';
export {
  type AgentTurn,
  environment,
  type Environment,
  type EnvironmentStep,
  type EpisodeEnd,
  type ExternalEnvironment,
  type MultiAgentEnvironment,
  type MultiAgentStart,
  type MultiAgentStep,
  type Turn,
  type Verdict,
} from './core/plugins/environment.ts';
export { unjudged, verdict } from './core/plugins/verdict.ts';
export { type EpisodeView, reward } from './core/plugins/reward.ts';
export {
  type GroupRewards,
  type JudgedGroup,
  rewardManager,
  type RewardManager,
} from './core/plugins/reward-manager.ts';
export { taskGenerator, type TaskGenerator } from './core/tasks/task-generator.ts';
export {
  type TrackedEvent,
  tracker,
  type Tracker,
  type TrackerNote,
} from './core/plugins/tracker.ts';
export type { TrackedRun } from './core/run-event.ts';
export { type ActOptions, policy, type Policy, type PolicyTurn } from './core/plugins/policy.ts';
export {
  type BareCall,
  type SampledTurn,
  type TemplateSample,
  toolCallFormat,
  type ToolCallFormat,
} from './core/plugins/tool-call-format.ts';

export { advantage, type RewardGroup } from './core/algorithm/advantage.ts';
export { correction, type CorrectionTokens } from './core/algorithm/correction.ts';
export { loss, type LossBatch, type TokenLosses } from './core/algorithm/loss.ts';
export type { LossOps, LossTensor } from './core/algorithm/loss-ops.ts';
export { type Selection, selection, type SelectionGroup } from './core/algorithm/selection.ts';

export {
  generator,
  type GeneratorHost,
  type OpenGenerator,
} from './core/plugins/model/generator.ts';
export {
  type Generation,
  type GenerationRequest,
  type GenerationTotals,
  type Generator,
  type GeneratorInfo,
} from './core/services/generator.ts';
export { learner, type LearnerHost, type OpenLearner } from './core/plugins/model/learner.ts';
export type {
  ForwardOptions,
  Learner,
  LearnerInfo,
  LossMetrics,
  LossSpec,
  OptimStepMetrics,
  OptimStepOptions,
} from './core/services/learner.ts';
export type { Scorer } from './core/services/scorer.ts';
export type { Batch } from './core/services/batch.ts';
export type { WeightRef, WeightTarget } from './core/services/weights.ts';

export {
  type AssistantMessage,
  type Message,
  system,
  type ToolCall,
  type ToolMessage,
  user,
  type UserMessage,
} from './core/message.ts';
export type { Task } from './core/tasks/task.ts';
export { isAnswer, mentionsAnswer } from './core/tasks/answer-match.ts';
export type { Sandbox } from './core/services/sandbox.ts';
export type { Outcome } from './core/outcome.ts';
export type { Transcript } from './core/transcript.ts';
export { KeyedRng } from './core/keyed-rng.ts';
export { TransientError } from './core/failure.ts';

export { builtinPlugins } from './compose/plugins/builtin-plugins.ts';
export { loadPlugins } from './compose/plugins/plugin-loader.ts';
export { EnvironmentRegistry, PolicyRegistry, ToolRegistry } from './compose/plugins/registries.ts';
export { CodeExecEnv } from './environments/code-exec/code-exec-env.ts';
export { CalculatorTool } from './tools/calculator/calculator-tool.ts';
export { CodeExecTool } from './tools/code-exec/code-exec-tool.ts';
export {
  HuggingFacePolicy,
  MiniMindPolicy,
  TransformersJsPolicy,
} from './policies/hugging-face-policies.ts';
export { LanguageModelPolicy, type PolicyGiven } from './policies/language-model-policy.ts';
export { copyLanguageModelFiles, type LanguageModel } from '../model/text/language-model.ts';
