import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { AgentContext } from '../../core/plugins/agent.ts';
import {
  environment,
  type EpisodeEnd,
  type ExternalEnvironment,
  type Verdict,
} from '../../core/plugins/environment.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { ToolHost } from '../../core/plugins/tool.ts';
import type { QuestionTask } from '../../core/tasks/question-task.ts';
import { isExecutable } from '../../sandbox/native/find-python.ts';
import { redactor } from '../../telemetry/redact.ts';
import { allPluginHooks } from '../../threads/plugin-hooks.ts';
import { compiledTwin, moduleBeside } from '../../threads/thread.ts';
import { judgeAnswer } from '../question/judge-answer.ts';
import { answerProblem } from '../question/right-answer.ts';
import type { JudgingSettings } from '../question/settings.ts';
import {
  type AgentOutput,
  type AgentRunner,
  answerOf,
  callOf,
  variablesOf,
} from './agent-runner.ts';
import { isModelError } from './model-errors.ts';
import { ProcessRunner } from './process-runner.ts';
import { checkExternal, ExternalSettings } from './settings.ts';
import { ThreadRunner } from './thread-runner.ts';

/** An external agent of a file or a program. Its answer is compared with the task's, or left to the rewards. */
@environment({
  name: 'external',
  description: 'An external agent, a file or a program; judged by its answer.',
  external: true,
  settings: ExternalSettings,
  taskFormat: 'question',
  answers: true,
  taskProblem: (task, settings) => answerProblem(task, settings as JudgingSettings),
  configure: (settings) => checkExternal(settings),
  open: (settings, host) => openAgent(settings as ExternalSettings, host),
})
export class ExternalEnv implements ExternalEnvironment {
  #stderr: string | undefined;

  constructor(
    private readonly given: { task: QuestionTask; settings: ExternalSettings; shared: AgentRunner },
  ) {}

  run(context: AgentContext): Promise<unknown> {
    return this.given.shared.run(context, (stderr) => void (this.#stderr = stderr));
  }

  isModelError(thrown: unknown): boolean {
    return isModelError(thrown);
  }

  async finish(end: EpisodeEnd, _: AbortSignal, answer?: unknown): Promise<Verdict> {
    const { task, settings } = this.given;
    const record = this.#stderr === undefined ? undefined : { stderr: this.#stderr };
    return judgeAnswer(answer, { task, settings, end, record });
  }
}

/** @throws AgentRlError `PLUGIN_LOAD_FAILED`, `CONFIG_INVALID` */
async function openAgent(settings: ExternalSettings, host: ToolHost): Promise<AgentRunner> {
  const { agent, command = [], isolation, mostOutputKiB } = settings;
  const env = variablesOf(settings.env, host);
  const redact = redactor(host.environment);
  const limits = { env, mostOutputBytes: mostOutputKiB * 1024, redact };
  if (agent === undefined) {
    requireProgram(command[0] ?? '', env);
    return new ProcessRunner({
      ...limits,
      name: command.join(' '),
      command,
      input: ({ task }) => task,
      read: (printed) => printed,
    });
  }
  if (!existsSync(agent))
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `The agent ${agent} does not exist (environment.agent). Relative paths are resolved in the working directory, ${process.cwd()}.`,
    );
  const file = { path: agent, hooks: allPluginHooks() };
  if (isolation !== 'process') return new ThreadRunner(file, env).open();
  const program = fileURLToPath(compiledTwin(moduleBeside(import.meta.url, 'agent-process')));
  return new ProcessRunner({
    ...limits,
    name: `The agent ${agent}`,
    command: [process.execPath, program, JSON.stringify(file)],
    input: callOf,
    read: (printed) => answerOf(JSON.parse(printed) as AgentOutput),
  });
}

/** @throws AgentRlError `PLUGIN_LOAD_FAILED` for a missing program */
function requireProgram(program: string, { PATH = '' }: Readonly<Record<string, string>>): void {
  const [where, places] = program.includes('/')
    ? [program, [program]]
    : [`in PATH, ${PATH}`, PATH.split(delimiter).map((folder) => join(folder, program))];
  if (process.platform === 'win32' || places.some(isExecutable)) return;
  throw new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `The program ${program} of environment.command does not exist or is not executable. Searched: ${where}.`,
  );
}
