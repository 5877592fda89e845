export { type Config, ConfigSchema } from './config-schema.ts';
export {
  loadConfig,
  type LoadConfigOptions,
  type LoadedConfig,
  type PluginRequest,
  pluginRequests,
} from './load-config.ts';
export { nearestName } from './nearest-name.ts';
export type { Override } from './overrides.ts';
export { configInvalid, type Location, type Place, type Places, type Problem } from './problem.ts';
export { resolvedYaml } from './resolved-yaml.ts';
export { type BlockPlace, checkBlock, validateBlock } from './validate-block.ts';
