import { AgentRlError } from '../../core/errors.ts';
import { SANDBOX, type Sandbox } from '../../core/services/sandbox.ts';
import type { Needed } from '../../core/plugins/given.ts';
import { TOOL_CALL_FORMAT } from '../../core/plugins/tool-call-format.ts';
import { SETTINGS, type ToolSpec } from '../../core/plugins/tool.ts';
import type { Chosen, ChosenPlugins } from './choose-plugins.ts';
import { asksFor, injectionsOf } from './injections.ts';
import type { Task } from '../../core/tasks/task.ts';

/** A sandbox is started only for what asks for one. */
export const needsSandbox = (chosen: ChosenPlugins): boolean => {
  const { environments, policy, tools, rewards, rewardManager } = chosen;
  return [...environments, policy, ...tools, ...rewards, rewardManager].some(({ entry }) =>
    usesSandbox(entry),
  );
};

/** By `@inject`, or because its spec says so. */
const usesSandbox = ({ plugin, spec }: { plugin: unknown; spec: Needing }): boolean =>
  asksFor(plugin, SANDBOX) || spec.needs?.includes('sandbox') === true;

interface Needing {
  readonly name: string;
  readonly needs?: readonly Needed[];
}

/** A tool-call format is opened only for a policy that asks for one. */
export const asksForFormat = ({ policy }: Pick<ChosenPlugins, 'policy'>): boolean =>
  asksFor(policy.entry.plugin, TOOL_CALL_FORMAT);

/**
 * Settings of the isolated tools by name, for their threads.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` when one asks for what no thread can be given.
 */
export function isolatedSettings(
  tools: readonly Chosen<ToolSpec>[],
): ReadonlyMap<string, Chosen<ToolSpec>['settings']> {
  const isolated = tools.filter(({ entry }) => entry.spec.isolated !== undefined);
  for (const { entry } of isolated) {
    const { spec, source } = entry;
    if ((spec.needs ?? []).length > 0) {
      throw new AgentRlError(
        'PLUGIN_LOAD_FAILED',
        `The isolated tool "${spec.name}" from ${source} says needs: ${String(spec.needs)}, and the thread it runs in can only be given its settings. Drop \`needs\`, or \`isolated\`.`,
      );
    }
    const wrong = injectionsOf(entry.plugin).find(
      ({ token, place }) => token !== SETTINGS || place !== 0,
    );
    if (wrong === undefined) continue;
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `The isolated tool "${entry.spec.name}" from ${entry.source} asks for ${String(wrong.token)} at ${placeText(wrong.place)}, and the thread it runs in can only be given its settings, as the constructor's first parameter. Drop the other @inject, or \`isolated\`.`,
    );
  }
  return new Map(
    isolated.map(({ entry, settings }) => [entry.spec.name, inThread(entry, settings)]),
  );
}

/** What the thread makes a tool with: its settings, or, for one that asks for nothing, an object with them. */
const inThread = ({ plugin }: { plugin: unknown }, settings: Chosen<ToolSpec>['settings']) =>
  injectionsOf(plugin).length > 0 ? settings : { settings };

const placeText = (place: number | string | symbol): string =>
  typeof place === 'number'
    ? `parameter ${place + 1} of its constructor`
    : `property ${String(place)}`;

/**
 * Refuses a sandbox that cannot do what the tasks and tools of a run will ask of it.
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
  return session === true && usesSandbox(entry);
}
