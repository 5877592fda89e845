import type { AgentContext } from '../../core/plugins/agent.ts';
import type { KeyedRng } from '../../core/keyed-rng.ts';
import type { ToolHost, ToolShared } from '../../core/plugins/tool.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { Task } from '../../core/tasks/task.ts';

/** An agent that runs outside this thread. */
export interface AgentRunner extends ToolShared {
  /** Its answer. @param note receives the agent's stderr */
  run(context: AgentContext, note: (stderr: string) => void): Promise<unknown>;
}

/** What crosses to where the agent runs. */
export interface AgentCall extends Pick<AgentContext, 'baseURL' | 'apiKey'> {
  task: Task;
  randomPath: KeyedRng['path'];
}

export const callOf = ({ task, baseURL, apiKey, random }: AgentContext): AgentCall => ({
  task,
  baseURL,
  apiKey,
  randomPath: random.path,
});

/** An agent's error, with its cause. */
export interface SentThrown extends Pick<Error, 'name' | 'message'> {
  stack: string | undefined;
  cause: SentThrown | undefined;
  /** Whether it is the model's failure, by the agent's own `isModelError` too. */
  isModelError: boolean;
}

/** The result of an agent: its answer as JSON, if any, or its error. */
export type AgentOutput = { answer: string | undefined } | { thrown: SentThrown };

/** @throws what the agent threw, by its name */
export function answerOf(output: AgentOutput): unknown {
  if ('thrown' in output) throw thrownOf(output.thrown);
  return output.answer === undefined ? undefined : JSON.parse(output.answer);
}

function thrownOf({ message, cause, stack, ...more }: SentThrown): Error {
  const error = new Error(message, { cause: cause && thrownOf(cause) });
  return Object.assign(error, more, { stack: stack ?? error.stack });
}

/** Variables that most programs need, without secrets. */
const usual =
  'PATH HOME USER LOGNAME SHELL TMPDIR TEMP TMP TZ LANG LANGUAGE LC_ALL LC_CTYPE SYSTEMROOT PATHEXT COMSPEC'.split(
    ' ',
  );

/** The environment variables of an agent. @throws AgentRlError `CONFIG_INVALID` for one that is named and not set */
export function variablesOf(
  named: readonly string[],
  { environment }: ToolHost,
): Record<string, string> {
  const missing = named.filter((name) => environment[name] === undefined);
  if (missing.length > 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `environment.env lists ${missing.join(', ')}, but ${missing.length === 1 ? 'this variable is' : 'these variables are'} not set. Set ${missing.length === 1 ? 'it' : 'them'} before starting the run, or change environment.env.`,
    );
  const names = [...usual, ...named];
  return Object.fromEntries(names.map((name) => [name, environment[name]]).filter(isSet));
}

const isSet = (pair: readonly (string | undefined)[]): pair is [string, string] =>
  pair[1] !== undefined;
