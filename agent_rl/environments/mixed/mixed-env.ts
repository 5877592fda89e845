import { inject } from 'inversify';
import { type Static, Type } from 'typebox';

import { block } from '../../config/blocks/block.ts';
import type { CodeTask } from '../../core/tasks/code-task.ts';
import { environment } from '../../core/plugins/environment.ts';
import { SANDBOX, type Sandbox } from '../../core/services/sandbox.ts';
import type { SearchTask } from '../../core/tasks/search-task.ts';
import { TASK } from '../../core/tasks/task.ts';
import { SETTINGS } from '../../core/plugins/tool.ts';
import { CodeExecEnv } from '../code-exec/code-exec-env.ts';
import { CodeExecSettings } from '../code-exec/settings.ts';
import { SearchEnv } from '../search/search-env.ts';
import { SearchSettings } from '../search/settings.ts';
import { ToolChoice } from '../tool-choice.ts';

const MixedSettings = Type.Object(
  {
    codeExec: block(
      CodeExecSettings.properties,
      'Settings of environment code_exec, for tasks with tests',
    ),
    search: block(
      SearchSettings.properties,
      'Settings of environment search, for tasks with an answer',
    ),
  },
  { additionalProperties: false },
);

/**
 * Tasks of both kinds, each judged as its own environment does: what `environments: [code_exec, search]` was in version
 * 0.1.
 */
@environment({
  name: 'mixed',
  description: 'Coding tasks and questions side by side; choosing the tool is part of the task.',
  settings: MixedSettings,
  taskFormat: 'mixed',
})
export class MixedEnv extends ToolChoice {
  constructor(
    @inject(TASK) task: CodeTask | SearchTask,
    @inject(SANDBOX) sandbox: Sandbox,
    @inject(SETTINGS) settings: Static<typeof MixedSettings>,
  ) {
    if ('tests' in task) super(new CodeExecEnv(task, sandbox, settings.codeExec), ['code_exec']);
    else super(new SearchEnv(task, settings.search), ['search']);
  }
}
