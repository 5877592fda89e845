import { CodeExecEnv } from './code-exec/code-exec-env.ts';
import { ExternalEnv } from './external/external-env.ts';
import { NemoGymEnv } from './nemo-gym/nemo-gym-env.ts';
import { OpenEnvEnv } from './openenv/openenv-env.ts';
import { QuestionEnv } from './question/question-env.ts';
import { SearchEnv } from './search/search-env.ts';
import { ToolboxEnv } from './toolbox/toolbox-env.ts';
import { WordGameEnv } from './word-game/word-game-env.ts';
import { WorkspaceEnv } from './workspace/workspace-env.ts';

/** Environments that ship with the framework. */
export const builtinEnvironments = [
  CodeExecEnv,
  SearchEnv,
  QuestionEnv,
  WordGameEnv,
  WorkspaceEnv,
  ToolboxEnv,
  ExternalEnv,
  OpenEnvEnv,
  NemoGymEnv,
] as const;
