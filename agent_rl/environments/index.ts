import { CodeExecEnv } from './code-exec/code-exec-env.ts';
import { MixedEnv } from './mixed/mixed-env.ts';
import { QuestionEnv } from './question/question-env.ts';
import { SearchEnv } from './search/search-env.ts';
import { WordGameEnv } from './word-game/word-game-env.ts';

export { CodeExecEnv, MixedEnv, QuestionEnv, SearchEnv, WordGameEnv };
export { ToolChoice } from './tool-choice.ts';
export type { CodeExecSettings } from './code-exec/settings.ts';
export type { QuestionSettings } from './question/settings.ts';
export type { SearchSettings } from './search/settings.ts';
export type { WordGameSettings } from './word-game/settings.ts';

/** Environments that ship with the framework. */
export const builtinEnvironments = [
  CodeExecEnv,
  SearchEnv,
  MixedEnv,
  QuestionEnv,
  WordGameEnv,
] as const;
