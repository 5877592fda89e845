import { inject } from 'inversify';
import { type Static, Type } from 'typebox';

import { block } from '../../config/blocks/block.ts';
import type { CodeTask } from '../../core/tasks/code-task.ts';
import { environment } from '../../core/plugins/environment.ts';
import type {
  Environment,
  EnvironmentStep,
  EpisodeEnd,
  Turn,
  Verdict,
} from '../../core/plugins/environment.ts';
import type { Message, ToolCall } from '../../core/message.ts';
import { SANDBOX, type Sandbox } from '../../core/services/sandbox.ts';
import type { SearchTask } from '../../core/tasks/search-task.ts';
import { TASK } from '../../core/tasks/task.ts';
import { SETTINGS } from '../../core/plugins/tool.ts';
import { CodeExecEnv } from '../code-exec/code-exec-env.ts';
import { CodeExecSettings } from '../code-exec/settings.ts';
import { SearchEnv } from '../search/search-env.ts';
import { SearchSettings } from '../search/settings.ts';

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
 * Tasks of both kinds, each judged as its own environment does. Nothing tells the policy which tool a task needs; the
 * metric `toolChoiceRight` says whether its first call was of that one.
 */
@environment({
  name: 'mixed',
  description: 'Coding tasks and questions side by side; choosing the tool is part of the task.',
  settings: MixedSettings,
  taskFormat: 'mixed',
})
export class MixedEnv implements Environment {
  readonly #inner: Environment;
  readonly #wanted: string;
  #firstTool: string | undefined;

  constructor(
    @inject(TASK) task: CodeTask | SearchTask,
    @inject(SANDBOX) sandbox: Sandbox,
    @inject(SETTINGS) settings: Static<typeof MixedSettings>,
  ) {
    const isCode = 'tests' in task;
    this.#wanted = isCode ? 'code_exec' : 'search';
    this.#inner = isCode
      ? new CodeExecEnv(task, sandbox, settings.codeExec)
      : new SearchEnv(task, settings.search);
  }

  start(): Promise<readonly Message[]> {
    return this.#inner.start();
  }

  toolInputs(call: ToolCall): Readonly<Record<string, unknown>> {
    return this.#inner.toolInputs?.(call) ?? {};
  }

  step(turn: Turn, signal: AbortSignal): Promise<EnvironmentStep> {
    this.#firstTool ??= turn.calls[0]?.call.name;
    return this.#inner.step(turn, signal);
  }

  async finish(end: EpisodeEnd, signal: AbortSignal): Promise<Verdict> {
    const verdict = await this.#inner.finish(end, signal);
    const toolChoiceRight = this.#firstTool === this.#wanted ? 1 : 0;
    const toolUsed = this.#firstTool === undefined ? 0 : 1;
    return { ...verdict, metrics: { ...verdict.metrics, toolChoiceRight, toolUsed } };
  }
}
