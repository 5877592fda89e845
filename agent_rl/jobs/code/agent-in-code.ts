import type { PrepareRunOptions } from '../../compose/prepare-run.ts';
import {
  type AnyKind,
  changeBlocks,
  type KindName,
  kindNames,
  kindOf,
  kinds,
  type PluginBlock,
} from '../../compose/plugins/kinds.ts';
import { ConfigSchema } from '../../config/config-schema.ts';
import { AgentRlError } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import type { Class } from '../../core/plugins/given.ts';
import type { ToolPlugin } from '../../core/plugins/define-tool.ts';
import type { AgentContext, AgentFunction } from '../../core/plugins/agent.ts';
import type { AnyEnvironment } from '../../core/plugins/environment.ts';
import type { Policy } from '../../core/plugins/policy.ts';
import {
  type EpisodeView,
  reward as markReward,
  type RewardScore,
} from '../../core/plugins/reward.ts';
import type { RewardManager, RewardManagerFunction } from '../../core/plugins/reward-manager.ts';
import { agent as markAgent } from '../../environments/external/agent.ts';
import { type AiSdkTool, aiSdkTools } from './ai-sdk-tools.ts';
import type { EpisodeOf, TaskOf } from './row-task.ts';
import type { TaskRows } from './task-folder.ts';

/** A reward as a function of the finished episode of a row's task; `undefined` when it does not apply. */
export type RewardInCode<Row = object> = (
  episode: EpisodeOf<Row>,
) => RewardScore | Promise<RewardScore>;

/** A block of the run file. */
export type SettingsInCode = Readonly<Record<string, unknown>>;

/** What an agent is made of, given by a program instead of a run file. */
export interface AgentParts<Row = object> {
  /** Model folder, or the block `model:` of a run file; the starter model by default. */
  model?: string | SettingsInCode;
  /** An agent with a loop of its own, which runs in this process. It excludes `agents`, `tools` and `environment`, and is judged as that is by default. */
  agent?: AgentFunction<TaskOf<Row>> | undefined;
  /** Whether what `agent` threw is the model's failure, besides the errors of frameworks that are known to be. */
  isModelError?: ((thrown: unknown) => boolean) | undefined;
  /** Made by `defineTool`, classes marked with `@tool`, blocks of a run file, or tools of the AI SDK by name. */
  tools?: readonly (ToolPlugin | SettingsInCode)[] | Readonly<Record<string, AiSdkTool>>;
  /**
   * A class marked with `@environment`, its name, or the block of a run file. By default `question`: with `reward` or
   * `rewards` these alone judge the answer, and without them it is compared with the task's.
   */
  environment?: Class<AnyEnvironment> | string | SettingsInCode;
  /** `agents:` of a run file, of an environment that has several. */
  agents?: readonly SettingsInCode[];
  /** `policies:` of a run file, by name. */
  policies?: SettingsInCode;
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
  /** A class marked with `@policy`, its name, or the block of a run file. */
  policy?: Class<Policy> | string | SettingsInCode;
  /** `algorithm:` of a run file; its parts may be functions marked with `advantage(…)`, `loss(…)` and so on. */
  algorithm?: SettingsInCode;
  /** Marked with `generator(…)`, its name, or the block of a run file. */
  generator?: object | string;
  /** Marked with `learner(…)`, its name, or the block of a run file. */
  learner?: object | string;
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
  /** Trained on: rows, or the path of a file of rows in any format that is read, relative to the working directory. */
  tasks: TaskRows<Row> | string;
  /** Attempted and not trained on; by default a tenth of `tasks` is held out. */
  evalTasks?: TaskRows<Row> | string;
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
  const { model, reward, agent } = parts;
  const exported: unknown[] = [...(parts.plugins ?? [])];
  const rewardsGiven = reward !== undefined || parts.rewards !== undefined;
  if (agent !== undefined) exported.push(ownAgent(agent, parts.isModelError));
  const type = agent === undefined ? 'question' : agentInCodeName;
  const isUsual = base === undefined || agent !== undefined;
  const usual = { type, ...(rewardsGiven && { match: 'rewards' }) };
  const rewards = [
    ...(reward === undefined ? [] : [markedReward(reward)]),
    ...(parts.rewards ?? []),
  ];
  const settings: Record<string, unknown> = {
    ...Object.fromEntries(blockNames.map((name) => [name, parts[name as keyof AgentParts]])),
    extends: base,
    model: typeof model === 'string' ? { path: model } : model,
    environment: parts.environment ?? (isUsual ? usual : undefined),
    tools: parts.tools && (await toolList(parts.tools)),
    rewards: rewardsGiven ? rewards : undefined,
    datasets: dir === undefined ? undefined : [{ dir }],
    plugins: undefined,
  };
  const named = kindNames.reduce(
    (all, name) => changeBlocks(all, kinds[name], (block) => blockOf(name, block, exported)),
    Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
  );
  return { file: caller, settings: named, exported };
}

/** What parts and run files have under the same key. */
const blockNames = Object.keys(ConfigSchema.properties);

/**
 * A part as a run file names it: a name, or a plugin, which is then exported.
 *
 * @throws AgentRlError `PLUGIN_UNMARKED`
 */
function blockOf(name: KindName, { path, value }: PluginBlock, exported: unknown[]): unknown {
  const { kind } = kindOf(name);
  const isWhole = !path.includes('.');
  if (typeof value === 'string') return isWhole ? { type: value } : value;
  if (value === undefined || isRecord(value)) return value;
  const isOwn = isWhole && kind.specOf(value) === undefined && kind.takes(value);
  const plugin = isOwn ? ownFunction(kind, value as AnyFunction) : value;
  const spec = kind.specOf(plugin);
  if (spec === undefined)
    throw new AgentRlError(
      'PLUGIN_UNMARKED',
      `${path.replaceAll(/\.(\d+)/g, '[$1]')} is not marked as a ${kind.kind}. Mark it with ${kind.kind}({ … }), or pass a block such as { type: 'NAME' }.`,
    );
  exported.push(plugin);
  return { type: spec.name };
}

type AnyFunction = (...given: unknown[]) => unknown;

/** A function of its own, so that the caller's is not marked. */
function ownFunction(kind: AnyKind['kind'], plugin: AnyFunction): AnyFunction {
  const own: AnyFunction = (...given) => plugin(...given);
  return kind.mark({ name: 'own', description: 'Given by the program.' })(own);
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

/** The environment that an agent of a program becomes. */
export const agentInCodeName = 'agent';

const ownAgent = (agent: AgentFunction<never>, isModelError: AgentParts['isModelError']): object =>
  markAgent({ name: agentInCodeName, description: 'Given by the program.', isModelError })(
    (context) => agent(context as AgentContext<never>),
  );

function markedReward(reward: RewardInCode<never>): object {
  // A function of its own, so that the caller's is not marked.
  const own = (episode: EpisodeView) => reward(episode as EpisodeOf<never>);
  return markReward({ name: 'reward', description: 'Given by the program.' })(own);
}
