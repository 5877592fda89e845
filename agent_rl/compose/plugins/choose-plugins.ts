import type { TProperties, TSchema } from 'typebox';

import {
  checkBlock,
  type Config,
  configInvalid,
  environmentBlocks,
  EnvironmentBlock,
  type LoadedConfig,
  GeneratorBlock,
  LearnerBlock,
  partBlock,
  placeOf,
  PolicyBlock,
  type Problem,
  RewardManagerBlock,
  rewardName,
  RewardsBlock,
  ToolsBlock,
  TrackersBlock,
} from '../../config/index.ts';
import type { AdvantageSpec } from '../../core/algorithm/advantage.ts';
import type { CorrectionSpec } from '../../core/algorithm/correction.ts';
import type { SelectionSpec } from '../../core/algorithm/selection.ts';
import type { LossPluginSpec } from '../../core/algorithm/loss.ts';
import type { EnvironmentSpec } from '../../core/plugins/environment.ts';
import { messageOf } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import type { Registry, RegistryEntry } from '../../core/plugins/plugin.ts';
import type { GeneratorSpec } from '../../core/plugins/model/generator.ts';
import type { LearnerSpec } from '../../core/plugins/model/learner.ts';
import type { PolicySpec } from '../../core/plugins/policy.ts';
import { isBlind, type RewardSpec } from '../../core/plugins/reward.ts';
import type { RewardManagerSpec } from '../../core/plugins/reward-manager.ts';
import type { ToolCallFormatSpec } from '../../core/plugins/tool-call-format.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { TrackerSpec } from '../../core/plugins/tracker.ts';
import type { TaskGeneratorSpec } from '../../core/tasks/task-generator.ts';
import type { EpisodeAgent } from '../../rollout/world.ts';
import { agentProblems, agentsOf } from '../episode-agents.ts';
import { constructorProblem } from './injections.ts';
import {
  environmentProblems,
  lossProblems,
  rewardManagerProblems,
  rewardProblems,
  type SettingProblem,
  strategyProblems,
  unknownType,
} from './plugin-problems.ts';
import {
  besides,
  checkSettings,
  listOf,
  namesPlugin,
  type ObjectSchema,
} from './plugin-settings.ts';
import type { Plugins } from './registries.ts';

/** A plugin that a run uses, with its own settings: checked, defaults filled in. */
export interface Chosen<Spec> {
  entry: RegistryEntry<Spec>;
  settings: Readonly<Record<string, unknown>>;
}

/** A reward that a run uses. */
export interface ChosenReward extends Chosen<RewardSpec> {
  /** In records and metrics. */
  name: string;
  weight: number;
  /** The tool whose calls alone it sees. */
  tool: string | undefined;
  /** It cannot see what is right. */
  blind: boolean;
}

/** An environment that a run uses. */
export interface ChosenEnvironment extends Chosen<EnvironmentSpec> {
  /** In the run file and in records. */
  name: string;
  agents: readonly EpisodeAgent[];
}

/** A tracker that a run uses. */
export interface ChosenTracker extends Chosen<TrackerSpec> {
  /** How many events may wait, and how long it may take over one and at the end, in seconds. */
  limits: Pick<Config['trackers'][number], 'queue' | 'deadlineS' | 'closeS'>;
}

/** The plugins that a config names. */
export interface ChosenPlugins {
  /** One, or several of which each task has one. */
  environments: readonly ChosenEnvironment[];
  policy: Chosen<PolicySpec>;
  generator: Chosen<GeneratorSpec>;
  learner: Chosen<LearnerSpec>;
  tools: readonly Chosen<ToolSpec>[];
  rewards: readonly ChosenReward[];
  rewardManager: Chosen<RewardManagerSpec>;
  advantage: Chosen<AdvantageSpec>;
  loss: Chosen<LossPluginSpec>;
  correction: Chosen<CorrectionSpec>;
  selection: Chosen<SelectionSpec>;
  trackers: readonly ChosenTracker[];
  /** One for each of `datasets`, undefined where that is a folder. */
  taskGenerators: readonly (Chosen<TaskGeneratorSpec> | undefined)[];
  /** Undefined when it is to be found from the chat template. */
  toolCallFormat?: Chosen<ToolCallFormatSpec>;
}

interface Block<Spec extends { name: string; settings?: TSchema }> {
  /** Dotted. */
  path: string;
  value: { type: string };
  registry: Registry<Spec>;
  /** What every block of this kind may hold. */
  own: TProperties;
  /** Where the name stands, when the block is nothing but a name. */
  namedAt?: string;
}

/**
 * Finds the plugins a config names and checks each one's block against its own schema.
 *
 * @param found what is wrong with the config already; reported together with what is found here
 * @throws AgentRlError `PLUGIN_UNKNOWN` or `CONFIG_INVALID`, all problems at once with their places;
 * `PLUGIN_LOAD_FAILED` for a plugin whose settings' schema cannot be used.
 */
export function choosePlugins(
  loaded: LoadedConfig,
  plugins: Plugins,
  found: readonly Problem[] = [],
): ChosenPlugins {
  const { config } = loaded;
  const choice = new Choice(loaded, found);
  const environments = environmentBlocks(config).map((block) =>
    choice.environment(block, plugins.environments),
  );
  const policy = choice.block('policy', plugins.policies, PolicyBlock);
  const generator = choice.block('generator', plugins.generators, GeneratorBlock);
  const learner = choice.block('learner', plugins.learners, LearnerBlock);
  const toolBlocks = listOf(config.tools);
  const tools = toolBlocks.map((value, index) => {
    const path = `tools.${index}`;
    const own = ToolsBlock.items.properties;
    return choice.configured(path, choice.of({ path, value, registry: plugins.tools, own }));
  });
  const toolCallFormat = choice.toolCallFormat(config.policy, plugins.toolCallFormats);
  const rewards = listOf(config.rewards).map((value, index) =>
    choice.reward(`rewards.${index}`, value, plugins.rewards),
  );
  const rewardManager = choice.block('rewardManager', plugins.rewardManagers, RewardManagerBlock);
  const advantage = choice.part('advantage', plugins.advantages);
  const loss = choice.part('loss', plugins.losses);
  const correction = choice.part('correction', plugins.corrections);
  const selection = choice.part('selection', plugins.selections);
  const trackers = listOf(config.trackers).map((value, index) =>
    choice.tracker(`trackers.${index}`, value, plugins.trackers),
  );
  const taskGenerators = listOf(config.datasets).map((source, index) =>
    choice.taskGenerator(`datasets.${index}.generator`, source, plugins.taskGenerators),
  );
  choice.refuseRepeats('trackers', trackers);
  choice.report(lossProblems(loss.entry));
  choice.refuseRepeats('tools', tools);
  for (const { entry } of environments) choice.requireTools(entry?.spec, toolBlocks);
  choice.report(environmentProblems(environments, config));
  if (!choice.unknown) choice.report(agentProblems(environments, config));
  const toolNames = tools.flatMap(({ entry }) => entry?.spec.name ?? []);
  choice.report(rewardProblems(rewards, choice.unknown ? undefined : toolNames));
  // With other problems the values may be anything.
  if (!choice.broken)
    choice.report([
      ...strategyProblems(config, environments, rewards),
      ...rewardManagerProblems(rewardManager.entry?.spec, rewards, config.algorithm),
    ]);
  choice.throwProblems();
  // Every entry is there: a missing one is a problem, and problems were just thrown.
  return {
    environments,
    policy,
    generator,
    learner,
    tools,
    rewards,
    rewardManager,
    advantage,
    loss,
    correction,
    selection,
    trackers,
    taskGenerators,
    ...(toolCallFormat && { toolCallFormat }),
  } as ChosenPlugins;
}

/** Stands for the format that is found from the chat template. */
const automatic = 'auto';

/** What every block that is nothing but a plugin's may hold. */
const PartBlock = partBlock('a part', '', '');

interface Attempt<Spec> {
  entry: RegistryEntry<Spec> | undefined;
  settings: Readonly<Record<string, unknown>>;
}

class Choice {
  readonly #problems: Problem[];
  #unknown = false;

  constructor(
    private readonly loaded: LoadedConfig,
    private readonly found: readonly Problem[],
  ) {
    this.#problems = [...found];
  }

  /** Whether a plugin is named that does not exist. */
  get unknown(): boolean {
    return this.#unknown;
  }

  get broken(): boolean {
    return this.#problems.length > 0;
  }

  of<Spec extends { name: string; settings?: TSchema }>({
    path,
    value,
    registry,
    own,
    namedAt = `${path}.type`,
  }: Block<Spec>): Attempt<Spec> {
    if (!namesPlugin(value)) return { entry: undefined, settings: {} };
    if (!registry.has(value.type)) {
      this.#unknown = true;
      const { replacedPlugins } = this.loaded;
      this.#report(namedAt, [unknownType(registry, value.type), ...replacedPlugins].join(' '));
      return { entry: undefined, settings: {} };
    }
    const entry = registry.get(value.type);
    const unmakeable = constructorProblem(entry.plugin);
    if (unmakeable !== undefined) this.#report(namedAt, unmakeable);
    const { places } = this.loaded;
    const schema = besides(own, entry.spec.settings);
    const { value: checked, problems } = checkSettings(entry, () =>
      checkBlock(schema, value, { path, places }),
    );
    this.#problems.push(...problems);
    const { properties: declared = {} }: ObjectSchema = entry.spec.settings ?? {};
    const settings = Object.entries(checked as object).filter(
      ([key]) => Object.hasOwn(declared, key) || !Object.hasOwn(own, key),
    );
    return { entry, settings: Object.freeze(Object.fromEntries(settings)) };
  }

  /** An environment, and what the run calls it. */
  environment(
    { path, value }: ReturnType<typeof environmentBlocks>[number],
    registry: Registry<EnvironmentSpec>,
  ) {
    const chosen = this.of({ path, value, registry, own: EnvironmentBlock.properties });
    const { type, name = type } = value;
    return { ...chosen, name, agents: agentsOf(chosen.entry?.spec, this.loaded.config) };
  }

  /** A reward, and what the run calls it and does with it. */
  reward(
    path: string,
    value: LoadedConfig['config']['rewards'][number],
    registry: Registry<RewardSpec>,
  ) {
    const chosen = this.of({ path, value, registry, own: RewardsBlock.items.properties });
    if (!namesPlugin(value)) return { ...chosen, name: path, weight: 0, blind: false };
    const { weight, tool } = value;
    const name = rewardName(value);
    // With problems nothing is chosen, and the function may rely on checked settings.
    const { entry, settings } = chosen;
    const blind = entry !== undefined && !this.broken && isBlind(entry.spec, settings);
    return { ...chosen, name, weight, blind, tool };
  }

  /** A tracker, and what it is allowed. */
  tracker(path: string, value: Config['trackers'][number], registry: Registry<TrackerSpec>) {
    const chosen = this.of({ path, value, registry, own: TrackersBlock.items.properties });
    const { queue, deadlineS, closeS } = isRecord(value) ? value : ({} as typeof value);
    return { ...chosen, limits: { queue, deadlineS, closeS } };
  }

  /** What makes the tasks of a source that is no folder. */
  taskGenerator(path: string, source: unknown, registry: Registry<TaskGeneratorSpec>) {
    const value = isRecord(source) ? source['generator'] : undefined;
    if (value === undefined) return undefined;
    return this.of({ path, value: value as { type: string }, registry, own: PartBlock.properties });
  }

  /** A block of the run file that names one plugin. */
  block<Spec extends { name: string; settings?: TSchema }>(
    path: 'policy' | 'generator' | 'learner' | 'rewardManager',
    registry: Registry<Spec>,
    { properties: own }: { properties: TProperties },
  ): Attempt<Spec> {
    return this.of({ path, value: this.loaded.config[path], registry, own });
  }

  /** A part of the algorithm. */
  part<Spec extends { name: string; settings?: TSchema }>(
    name: 'advantage' | 'loss' | 'correction' | 'selection',
    registry: Registry<Spec>,
  ): Attempt<Spec> {
    const { algorithm }: { algorithm: unknown } = this.loaded.config;
    const value = (isRecord(algorithm) ? algorithm[name] : undefined) as { type: string };
    const path = `algorithm.${name}`;
    return this.of({ path, value, registry, own: PartBlock.properties });
  }

  /** The format that a policy's block names, unless it is `auto`. */
  toolCallFormat(
    policy: unknown,
    registry: Registry<ToolCallFormatSpec>,
  ): Attempt<ToolCallFormatSpec> | undefined {
    const named = isRecord(policy) && 'toolCallFormat' in policy;
    const value = named ? policy['toolCallFormat'] : automatic;
    const block = typeof value === 'string' ? { type: value } : (value as { type: string });
    const path = 'policy.toolCallFormat';
    if (!namesPlugin(block)) {
      // A value of another kind was reported with the rest of the config.
      if (typeof value === 'object') this.#report(path, 'names no format: add "type: NAME".');
      return { entry: undefined, settings: {} };
    }
    if (block.type === automatic) {
      const extra = Object.keys(block).filter((key) => key !== 'type');
      if (extra.length > 0)
        this.#report(path, `"${automatic}" takes no settings: name the format.`);
      return undefined;
    }
    const namedAt = typeof value === 'string' ? path : `${path}.type`;
    const own = PartBlock.properties;
    return this.of({ path, value: block, registry, own, namedAt });
  }

  /** A tool with what of its spec follows from its settings. */
  configured(path: string, tool: Attempt<ToolSpec>): Attempt<ToolSpec> {
    const { entry, settings } = tool;
    // Its own problems are reported already, and `configure` may rely on checked settings.
    const broken = this.#problems.some((problem) => problem.path.startsWith(path));
    if (entry?.spec.configure === undefined || broken) return tool;
    try {
      return {
        entry: { ...entry, spec: { ...entry.spec, ...entry.spec.configure(settings) } },
        settings,
      };
    } catch (thrown) {
      this.#report(path, messageOf(thrown));
      return tool;
    }
  }

  /** By the name in its spec: a tool, which the model calls by it, may be there twice under two names. */
  refuseRepeats(path: string, chosen: readonly Attempt<{ name: string }>[]): void {
    const names = chosen.map(({ entry }) => entry?.spec.name);
    for (const [index, name] of names.entries()) {
      const first = names.indexOf(name);
      if (name === undefined || first === index) continue;
      this.#report(`${path}.${index}.type`, `"${name}" is already ${path}.${first}. Keep one.`);
    }
  }

  requireTools(environment: EnvironmentSpec | undefined, tools: readonly { type: string }[]): void {
    // A tool that is not known may be meant as the one that is missing.
    if (this.#unknown || !tools.every(namesPlugin)) return;
    for (const name of environment?.requires ?? []) {
      if (tools.some(({ type }) => type === name)) continue;
      const text = `environment ${environment?.name} cannot do without the tool "${name}". Add "- type: ${name}".`;
      this.#report('tools', text);
    }
  }

  report(problems: readonly SettingProblem[]): void {
    for (const { path, text } of problems) this.#report(path, text);
  }

  throwProblems(): void {
    if (this.#problems.length === 0) return;
    const unknown = this.#unknown && this.found.length === 0;
    throw configInvalid(this.#problems, unknown ? 'PLUGIN_UNKNOWN' : 'CONFIG_INVALID');
  }

  #report(path: string, text: string): void {
    const pointer = `/${path.replaceAll('.', '/')}`;
    this.#problems.push({ location: placeOf(this.loaded.places, pointer).value, path, text });
  }
}
