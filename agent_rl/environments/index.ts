import { CodeExecEnv } from './code-exec/code-exec-env.ts';

export { CodeExecEnv };
export type { CodeExecSettings } from './code-exec/settings.ts';

/** Environments that ship with the framework. */
export const builtinEnvironments = [CodeExecEnv] as const;
