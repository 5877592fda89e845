import { CodeExecEnv } from './code-exec/code-exec-env.ts';
import { QuestionEnv } from './question/question-env.ts';
import { SearchEnv } from './search/search-env.ts';
import { WordGameEnv } from './word-game/word-game-env.ts';
import { WorkspaceEnv } from './workspace/workspace-env.ts';

export { CodeExecEnv, QuestionEnv, SearchEnv, WordGameEnv, WorkspaceEnv };
export { ToolChoice } from './tool-choice.ts';
export type { CodeExecSettings } from './code-exec/settings.ts';
export type { QuestionSettings } from './question/settings.ts';
export type { SearchSettings } from './search/settings.ts';
export type { WordGameSettings } from './word-game/settings.ts';
export type { WorkspaceSettings } from './workspace/settings.ts';

/** Environments that ship with the framework. */
export const builtinEnvironments = [
  CodeExecEnv,
  SearchEnv,
  QuestionEnv,
  WordGameEnv,
  WorkspaceEnv,
] as const;
