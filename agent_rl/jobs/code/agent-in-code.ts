import type { PrepareRunOptions } from '../../compose/prepare-run.ts';
import { AgentRlError } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import type { Class } from '../../core/plugins/class.ts';
import type { ToolPlugin } from '../../core/plugins/define-tool.ts';
import {
  type Environment,
  environments,
  type MultiAgentEnvironment,
} from '../../core/plugins/environment.ts';
import { type EpisodeView, reward as markReward, rewards } from '../../core/plugins/reward.ts';
import {
  type JudgedGroup,
  type RewardManager,
  rewardManager as markManager,
  type RewardManagerFunction,
  rewardManagers,
} from '../../core/plugins/reward-manager.ts';
import { tools as toolKind } from '../../core/plugins/tool.ts';
import { trackers } from '../../core/plugins/tracker.ts';
import { type AiSdkTool, aiSdkTools } from './ai-sdk-tools.ts';
import type { EpisodeOf } from './row-task.ts';
import type { TaskRows } from './task-folder.ts';

/** A reward as a function of the finished episode of a row's task; `undefined` when it does not apply. */
export type RewardInCode<Row = object> = (
  episode: EpisodeOf<Row>,
) => number | undefined | Promise<number | undefined>;

/** A block of the run file. */
export type SettingsInCode = Readonly<Record<string, unknown>>;

/** What an agent is made of, given by a program in place of a run file. */
export interface AgentParts<Row = object> {
  /** Model folder, or the block `model:` of a run file; the starter model by default. */
  model?: string | SettingsInCode;
  /** Made by `defineTool`, classes marked with `@tool`, blocks of a run file, or tools of the AI SDK by name. */
  tools?: readonly (ToolPlugin | SettingsInCode)[] | Readonly<Record<string, AiSdkTool>>;
  /**
   * A class marked with `@environment`, its name, or the block of a run file. By default `question`: with `reward` or
   * `rewards` these alone judge the answer, and without them it is compared with the task's.
   */
  environment?: Class<Environment> | Class<MultiAgentEnvironment> | string | SettingsInCode;
  /** `agents:` of a run file, of an environment that has several. */
  agents?: readonly SettingsInCode[];
  /** Added to the environment's own reward. */
  reward?: RewardInCode<Row>;
  /** More rewards: functions and classes marked with `reward(…)`, or blocks of a run file. */
  rewards?: readonly (object | SettingsInCode)[];
  /**
   * What the episodes of a group are compared by: a function of the group, a function or class marked with
   * `rewardManager(…)`, the name of one, or the block of a run file.
   */
  rewardManager?: RewardManagerFunction<void> | Class<RewardManager> | string | SettingsInCode;
  /** Where the figures of a run go besides its own files: marked with `tracker(…)`, or blocks of a run file. */
  trackers?: readonly (object | SettingsInCode)[];
  /** Other plugins that blocks name, such as a policy. */
  plugins?: readonly unknown[];
  policy?: SettingsInCode;
  algorithm?: SettingsInCode;
  rollout?: SettingsInCode;
  train?: SettingsInCode;
  eval?: SettingsInCode;
  checkpoint?: SettingsInCode;
  dataset?: SettingsInCode;
  sandbox?: SettingsInCode;
  /** `run:` of a run file: seed, name, outputDir, device. */
  run?: SettingsInCode;
}

/** The tasks of a training. */
export interface TasksInCode<Row extends object = object> {
  /** Trained on. */
  tasks: TaskRows<Row>;
  /** Attempted and not trained on; by default a tenth of `tasks` is held out. */
  evalTasks?: TaskRows<Row>;
}

/** A run file's worth of settings, and the plugins they name. */
export type InCode = Required<Pick<PrepareRunOptions, 'file' | 'settings' | 'exported'>>;

export interface InCodeOptions {
  /** What the run is called, and messages name as the place of a setting. */
  caller: string;
  /** Run file whose settings stand where `parts` gives none. */
  base?: string | undefined;
  /** Folder of the tasks. */
  dir?: string | undefined;
}

/**
 * What a program gives, as the settings of a run file and the plugins that it names: from here on the run is one like any
 * other.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED`, `PLUGIN_UNMARKED`
 */
export async function agentInCode(
  parts: AgentParts<never>,
  { caller, base, dir }: InCodeOptions,
): Promise<InCode> {
  const { model, policy, algorithm, rollout, train, checkpoint, dataset, sandbox, run } = parts;
  const exported: unknown[] = [...(parts.plugins ?? [])];
  const rewardsGiven = parts.reward !== undefined || parts.rewards !== undefined;
  const usual = { type: 'question', ...(rewardsGiven && { match: 'rewards' }) };
  const environment = parts.environment ?? (base === undefined ? usual : undefined);
  const settings = {
    extends: base,
    model: typeof model === 'string' ? { path: model } : model,
    environment: environment && environmentBlock(environment, exported),
    tools:
      parts.tools && listed(toolKind, await toolList(parts.tools), { name: 'tools', exported }),
    rewards: rewardsGiven ? rewardBlocks(parts, exported) : undefined,
    rewardManager: parts.rewardManager && managerBlock(parts.rewardManager, exported),
    trackers: parts.trackers && listed(trackers, parts.trackers, { name: 'trackers', exported }),
    datasets: dir === undefined ? undefined : [{ dir }],
    agents: parts.agents,
    eval: parts.eval,
    policy,
    algorithm,
    rollout,
    train,
    checkpoint,
    dataset,
    sandbox,
    run,
  };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return { file: caller, settings: Object.fromEntries(given), exported };
}

/** Where the tasks of a program are written, and the seed that holds some of them out. */
export function placeOfTasks({ run = {} }: Pick<AgentParts, 'run'>) {
  const { outputDir = defaultOutputDir, seed = defaultSeed } = run;
  // Of another kind they are refused with the other settings.
  return { outputDir: String(outputDir), seed: Number(seed) };
}

const defaultOutputDir = 'runs';
const defaultSeed = 42;

const toolList = async (
  tools: NonNullable<AgentParts['tools']>,
): Promise<readonly (ToolPlugin | SettingsInCode)[]> =>
  Array.isArray(tools)
    ? (tools as readonly (ToolPlugin | SettingsInCode)[])
    : aiSdkTools(tools as Readonly<Record<string, AiSdkTool>>);

/** Blocks of a list of plugins and blocks. */
const listed = (
  kind: Kind,
  list: readonly (object | SettingsInCode)[],
  { name, exported }: { name: string; exported: unknown[] },
): SettingsInCode[] =>
  list.map((one, index) => {
    if (isRecord(one)) return one;
    return { type: markedName(kind, one, `${name}[${index}]`, exported) };
  });

function environmentBlock(
  environment: Class<Environment> | Class<MultiAgentEnvironment> | string | SettingsInCode,
  exported: unknown[],
): SettingsInCode {
  if (typeof environment === 'string') return { type: environment };
  if (isRecord(environment)) return environment;
  return { type: markedName(environments, environment, 'environment', exported) };
}

function rewardBlocks(
  { reward, rewards: more = [] }: AgentParts<never>,
  exported: unknown[],
): SettingsInCode[] {
  const blocks = listed(rewards, more, { name: 'rewards', exported });
  if (reward === undefined) return blocks;
  // A function of its own, so that the caller's is not marked.
  const own = (episode: EpisodeView) => reward(episode as EpisodeOf<never>);
  exported.push(markReward({ name: 'reward', description: 'Given by the program.' })(own));
  return [{ type: 'reward' }, ...blocks];
}

function managerBlock(
  manager: NonNullable<AgentParts['rewardManager']>,
  exported: unknown[],
): SettingsInCode {
  if (typeof manager === 'string') return { type: manager };
  if (isRecord(manager)) return manager;
  const { prototype } = manager as { prototype?: Partial<RewardManager> };
  if (prototype?.assign !== undefined || rewardManagers.specOf(manager) !== undefined)
    return { type: markedName(rewardManagers, manager, 'rewardManager', exported) };
  // A function of its own, so that the caller's is not marked.
  const assign = manager as RewardManagerFunction<void>;
  const own = (group: JudgedGroup, _: unknown, signal: AbortSignal) =>
    assign(group, undefined, signal);
  exported.push(markManager({ name: 'own', description: 'Given by the program.' })(own));
  return { type: 'own' };
}

interface Kind {
  kind: string;
  specOf(value: unknown): { name: string } | undefined;
}

/** The name that a plugin was marked with. */
function markedName(kind: Kind, plugin: unknown, place: string, exported: unknown[]): string {
  const spec = kind.specOf(plugin);
  if (spec === undefined)
    throw new AgentRlError(
      'PLUGIN_UNMARKED',
      `${place} is not marked as a ${kind.kind}. Mark it with ${kind.kind}({ … }), or pass a block such as { type: 'NAME' }.`,
    );
  exported.push(plugin);
  return spec.name;
}
