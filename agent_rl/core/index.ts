export * from './algorithm/advantage.ts';
export * from './algorithm/correction.ts';
export * from './algorithm/loss-ops.ts';
export * from './algorithm/loss.ts';
export * from './algorithm/selection.ts';
export * from './tasks/answer-match.ts';
export * from './tasks/code-task.ts';
export { defineTool, type FunctionTool, type ToolPlugin } from './plugins/define-tool.ts';
export * from './services/batch.ts';
export * from './plugins/environment.ts';
export * from './error-catalogue.ts';
export * from './errors.ts';
export { type Failure, TransientError } from './failure.ts';
export type { Class, Given, Needed } from './plugins/given.ts';
export * from './services/generator.ts';
export * from './plugins/model/generator.ts';
export * from './plugins/model/learner.ts';
export * from './keyed-rng.ts';
export * from './services/learner.ts';
export * from './services/scorer.ts';
export * from './message.ts';
export * from './outcome.ts';
export * from './plugins/plugin.ts';
export type { FieldRule, PluginRules, PluginUse } from './plugins/plugin-rules.ts';
export * from './plugins/policy.ts';
export * from './python/python-value.ts';
export * from './plugins/reward.ts';
export * from './plugins/reward-manager.ts';
export * from './services/sandbox.ts';
export * from './tasks/question-task.ts';
export * from './tasks/search-task.ts';
export * from './services/search.ts';
export * from './tasks/task.ts';
export * from './tasks/task-generator.ts';
export * from './services/weights.ts';
export { WeightBus, type WeightBusParts } from './services/weight-bus.ts';
export type {
  InputOf,
  InputSchema,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from './plugins/standard-schema.ts';
export * from './plugins/tool-call-format.ts';
export * from './plugins/tool.ts';
export * from './plugins/tracker.ts';
export * from './plugins/verdict.ts';
export * from './trajectory.ts';
export * from './transcript.ts';
