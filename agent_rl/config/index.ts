export {
  type Config,
  rewardName,
  attemptsOf,
  type RunLength,
  runLength,
  samplingOf,
} from './config-schema.ts';
export {
  checkConfig,
  type ConfigCheck,
  loadConfig,
  type LoadConfigOptions,
  type LoadedConfig,
  type PluginRequest,
  pluginRequests,
  resolvedYaml,
  shippedNotes,
} from './load-config.ts';
export {
  isProgramPlugin,
  type ProgramPlugin,
  programPlugin,
  programPlugins,
} from './program-plugins.ts';
export { configOfPolicy, isTrained, openedPolicies } from './policies.ts';
export { type SettingOrigin, type SettingOrigins, settingOrigins } from './setting-origins.ts';
export { type AlgorithmRow, algorithmTable } from './algorithm-table.ts';
export { algorithmPresets } from './algorithm-presets.ts';
export { nearestName } from './checks/nearest-name.ts';
export type { Override } from './yaml/overrides.ts';
export { configInvalid, placeOf, type Problem } from './checks/problem.ts';
export { changed, type IdleSetting } from './checks/idle-settings.ts';
export { sandboxProblems } from './checks/sandbox-problems.ts';
export { trainingWarnings } from './checks/training-run.ts';
export { checkBlock, validateBlock } from './checks/validate-block.ts';
