import { CodeExecEnv } from './code-exec/code-exec-env.ts';
import { SearchEnv } from './search/search-env.ts';

export { CodeExecEnv, SearchEnv };

/** Environments that ship with the framework. */
export const builtinEnvironments = [CodeExecEnv, SearchEnv] as const;
