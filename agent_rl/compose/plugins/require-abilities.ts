import { AgentRlError } from '../../core/errors.ts';
import { SANDBOX, type Sandbox } from '../../core/services/sandbox.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { Chosen } from './choose-plugins.ts';
import { asksFor } from './injections.ts';

interface Wants {
  tasks: readonly Task[];
  tools: readonly Chosen<ToolSpec>[];
}

/**
 * Refuses a sandbox that cannot do what the tasks and tools of a run will ask of it.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`
 */
export function requireAbilities(sandbox: Pick<Sandbox, 'capabilities'>, wants: Wants): void {
  const { level, unsupported = [] } = sandbox.capabilities();
  const task = wants.tasks.find(judgedByStatements);
  if (unsupported.includes('judge') && task !== undefined) {
    throw unable(
      `The sandbox ${level} cannot judge by assert statements, which task ${JSON.stringify(task.taskId)} has.`,
    );
  }
  const tool = wants.tools.find(keepsVariables);
  if (unsupported.includes('sessions') && tool !== undefined) {
    throw unable(
      `The sandbox ${level} cannot keep variables between programs, which session: true of the tool ${tool.entry.spec.name} asks for.`,
    );
  }
}

const unable = (what: string): AgentRlError =>
  new AgentRlError(
    'SANDBOX_UNAVAILABLE',
    `${what} Use a sandbox of this machine, or \`agent-rl sandbox serve\` on the other one.`,
  );

function judgedByStatements(task: Task): boolean {
  const { tests } = task as { tests?: { kind?: unknown } };
  return tests?.kind === 'asserts';
}

function keepsVariables({ entry, settings }: Chosen<ToolSpec>): boolean {
  const { session } = (settings ?? {}) as { session?: unknown };
  return session === true && asksFor(entry.plugin, SANDBOX);
}
