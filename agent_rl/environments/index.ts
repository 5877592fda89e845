import { CodeExecEnv } from './code-exec/code-exec-env.ts';

export { CodeExecEnv };

/** Environments that ship with the framework. */
export const builtinEnvironments = [CodeExecEnv] as const;
