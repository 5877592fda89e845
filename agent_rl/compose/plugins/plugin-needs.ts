import { AgentRlError } from '../../core/errors.ts';
import type { Sandbox } from '../../core/services/sandbox.ts';
import type { Needed } from '../../core/plugins/given.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { Chosen, ChosenPlugins } from './choose-plugins.ts';
import type { Task } from '../../core/tasks/task.ts';

/** Whether a plugin of the run needs a service, which is only opened then. */
export const needs = (chosen: Partial<ChosenPlugins>, service: Needed): boolean =>
  Object.values(chosen)
    .flat()
    .some((one) => {
      const spec: { needs?: readonly Needed[]; name: string } | undefined = one?.entry.spec;
      return spec?.needs?.includes(service) === true;
    });

/**
 * Settings of the isolated tools by name, for their threads.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` when one needs something that a thread cannot receive.
 */
export function isolatedSettings(
  tools: readonly Chosen<ToolSpec>[],
): ReadonlyMap<string, Chosen<ToolSpec>['settings']> {
  const isolated = tools.filter(({ entry }) => entry.spec.isolated !== undefined);
  const needing = isolated.find(({ entry }) => (entry.spec.needs ?? []).length > 0);
  if (needing !== undefined) {
    const { spec, source } = needing.entry;
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `The isolated tool "${spec.name}" from ${source} declares needs: ${String(spec.needs)}, but an isolated tool is created with nothing except its settings. Remove \`needs\` or \`isolated\`.`,
    );
  }
  return new Map(isolated.map(({ entry, settings }) => [entry.spec.name, settings]));
}

/**
 * Refuses a sandbox that lacks a feature that the run's tasks or tools need.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`
 */
export function requireAbilities(
  sandbox: Pick<Sandbox, 'capabilities'>,
  wants: { tasks: readonly Task[]; tools: readonly Chosen<ToolSpec>[] },
): void {
  const { level, unsupported = [] } = sandbox.capabilities();
  const task = wants.tasks.find(judgedByStatements);
  if (unsupported.includes('judge') && task !== undefined) {
    throw unable(
      `The sandbox ${level} does not support assert statements, which task ${JSON.stringify(task.taskId)} needs.`,
    );
  }
  const tool = wants.tools.find(keepsVariables);
  if (unsupported.includes('sessions') && tool !== undefined) {
    throw unable(
      `The tool ${tool.entry.spec.name} has session: true, which needs a sandbox that keeps variables between programs. The sandbox ${level} does not keep them.`,
    );
  }
}

const unable = (what: string): AgentRlError =>
  new AgentRlError(
    'SANDBOX_UNAVAILABLE',
    `${what} Use a local sandbox, or run \`agent-rl sandbox serve\` on the remote machine.`,
  );

function judgedByStatements(task: Task): boolean {
  const { tests } = task as { tests?: { kind?: unknown } };
  return tests?.kind === 'asserts';
}

function keepsVariables({ entry, settings }: Chosen<ToolSpec>): boolean {
  const { session } = (settings ?? {}) as { session?: unknown };
  return session === true && entry.spec.needs?.includes('sandbox') === true;
}
