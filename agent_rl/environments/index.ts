import { CodeExecEnv } from './code-exec/code-exec-env.ts';
import { MixedEnv } from './mixed/mixed-env.ts';
import { SearchEnv } from './search/search-env.ts';

export { CodeExecEnv, MixedEnv, SearchEnv };
export type { CodeExecSettings } from './code-exec/settings.ts';
export type { SearchSettings } from './search/settings.ts';

/** Environments that ship with the framework. */
export const builtinEnvironments = [CodeExecEnv, SearchEnv, MixedEnv] as const;
