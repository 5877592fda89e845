import {
  checkBlock,
  type Config,
  configInvalid,
  type LoadedConfig,
  placeOf,
  type Problem,
  rewardName,
} from '../../config/index.ts';
import { messageOf } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import type { EnvironmentSpec } from '../../core/plugins/environment.ts';
import type { PluginSpec, Registry, RegistryEntry } from '../../core/plugins/plugin.ts';
import { isBlind, type RewardSpec } from '../../core/plugins/reward.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { TrackerSpec } from '../../core/plugins/tracker.ts';
import type { EpisodeAgent } from '../../rollout/world.ts';
import { agentProblems, agentsOf } from '../episode-agents.ts';
import {
  blocksOf,
  type IsMany,
  kindNames,
  kindOf,
  type KindName,
  type Kinds,
  ownSettings,
  type PluginBlock,
  policyKinds,
  type Plugins,
  type SpecOf,
} from './kinds.ts';
import {
  environmentProblems,
  missingTools,
  rewardProblems,
  type SettingProblem,
  strategyProblems,
  uncalledTools,
  unknownType,
} from './plugin-problems.ts';
import {
  besides,
  checkSettings,
  listOf,
  namesPlugin,
  type ObjectSchema,
} from './plugin-settings.ts';

/** A plugin that a run uses, with its own settings: checked, defaults filled in. */
export interface Chosen<Spec> {
  entry: RegistryEntry<Spec>;
  settings: Readonly<Record<string, unknown>>;
}

/** A tool that a run uses. */
export interface ChosenTool extends Chosen<ToolSpec> {
  /** The tool set that it is of, and what that one calls it. */
  set?: { name: string; of: string; isEnvironment?: true } | undefined;
}

/** A reward that a run uses. */
export interface ChosenReward extends Chosen<RewardSpec> {
  /** In records and metrics. */
  name: string;
  weight: number;
  /** The only tool whose calls it sees. */
  tool: string | undefined;
  /** It cannot see the expected answer. */
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
  /** Queue length, and time limits for an event and for the end of the run, in seconds. */
  limits: Pick<Config['trackers'][number], 'queue' | 'deadlineS' | 'closeS'>;
}

/** Kinds that have more options than their settings, and optional kinds. */
interface ChosenMore {
  tools: ChosenTool;
  environments: ChosenEnvironment;
  rewards: ChosenReward;
  trackers: ChosenTracker;
  /** Undefined for a dataset that is a folder. */
  taskGenerators: Chosen<SpecOf<'taskGenerators'>> | undefined;
  /** Undefined if it is inferred from the chat template. */
  toolCallFormats: Chosen<SpecOf<'toolCallFormats'>> | undefined;
}

type ChosenOf<Name extends KindName> = Name extends keyof ChosenMore
  ? ChosenMore[Name]
  : Chosen<SpecOf<Name>>;

/** The plugins that a config names. */
export type ChosenPlugins = {
  readonly [Name in KindName as Kinds[Name]['chosen']]: IsMany<Name> extends true
    ? readonly ChosenOf<Name>[]
    : ChosenOf<Name>;
};

/** A plugin as far as it was found. */
type Attempt<One> = One extends { entry: infer Entry }
  ? Omit<One, 'entry'> & { entry: Entry | undefined }
  : One;

type Attempts = {
  readonly [Key in keyof ChosenPlugins]: ChosenPlugins[Key] extends readonly (infer One)[]
    ? readonly Attempt<One>[]
    : Attempt<ChosenPlugins[Key]>;
};

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
  const choice = new Choice(loaded, plugins, found);
  const attempts = choice.attempts();
  const { environments, tools, rewards } = attempts;
  choice.refuseRepeats('trackers', attempts.trackers);
  choice.refuseRepeats('tools', tools);
  const holdsSets = [...tools, ...environments].some(({ entry }) => entry?.spec.find !== undefined);
  const listed = listOf(config.tools);
  // An unknown tool may be a misspelling of the missing one; the tools of a set are not known yet.
  if (!choice.unknown && !holdsSets && listed.every(namesPlugin)) {
    const specs = environments.flatMap(({ entry }) => entry?.spec ?? []);
    choice.report(
      missingTools(
        specs,
        listed.map(({ type }) => type),
      ),
    );
  }
  choice.report(environmentProblems(environments, config));
  choice.report(uncalledTools(environments, tools));
  if (!choice.unknown) choice.report(agentProblems(environments, config));
  const toolNames = tools.flatMap(({ entry }) => entry?.spec.name ?? []);
  choice.report(rewardProblems(rewards, choice.unknown || holdsSets ? undefined : toolNames));
  // With other problems the values may be anything.
  if (!choice.broken) {
    choice.report(strategyProblems(config, environments, rewards));
    const weights = [config.algorithm.environmentWeight, ...rewards.map(({ weight }) => weight)];
    for (const name of kindNames) choice.refuseUnusable(name, attempts, weights);
  }
  choice.ofPolicies();
  choice.throwProblems();
  // Every entry is there: a missing one is a problem, and problems were just thrown.
  return attempts as ChosenPlugins;
}

/**
 * What each named policy of a run uses: the run's plugins, with its own policy, format, generator and learner.
 *
 * @param chosen the run's plugins, which `choosePlugins` found without problems
 */
export function choosePolicies(
  loaded: LoadedConfig,
  plugins: Plugins,
  chosen: ChosenPlugins,
): ReadonlyMap<string, ChosenPlugins> {
  const own = new Choice(loaded, plugins, []).ofPolicies();
  return new Map([...own].map(([name, parts]) => [name, Object.assign({}, chosen, parts)]));
}

/** Means the format that is inferred from the chat template. */
const automatic = 'auto';

type AnyAttempt = Attempt<Chosen<PluginSpec>>;
const noPlugin: AnyAttempt = { entry: undefined, settings: {} };

class Choice {
  readonly #problems: Problem[];
  #unknown = false;

  constructor(
    private readonly loaded: LoadedConfig,
    private readonly plugins: Plugins,
    private readonly found: readonly Problem[],
  ) {
    this.#problems = [...found];
  }

  /** Whether the run names a plugin that does not exist. */
  get unknown(): boolean {
    return this.#unknown;
  }

  get broken(): boolean {
    return this.#problems.length > 0;
  }

  /** The plugins that the blocks of every kind name. */
  attempts(): Attempts {
    const chosen = kindNames.map((name) => {
      const { at, chosen: key } = kindOf(name);
      const all = blocksOf(this.loaded.config, kindOf(name)).map((block) =>
        this.#more(name, block),
      );
      return [key, at.includes('*') ? all : all[0]];
    });
    return Object.fromEntries(chosen) as Attempts;
  }

  /** The plugins of the named policies; a block that a policy leaves out is the top level's. */
  ofPolicies(): ReadonlyMap<string, Partial<ChosenPlugins>> {
    const { config } = this.loaded;
    const named = isRecord(config.policies) ? Object.keys(config.policies) : [];
    const own = named.map((policy): [string, Partial<ChosenPlugins>] => {
      const parts = policyKinds.flatMap((name) => {
        const at = `policies.${policy}.${kindOf(name).at}`;
        const [block] = blocksOf(config, { at });
        const [, , inner = ''] = at.split('.');
        const isOwn = isRecord(config.policies[policy]) && inner in config.policies[policy];
        if (!isOwn || block === undefined) return [];
        return [[kindOf(name).chosen, this.#more(name, block)] as const];
      });
      return [policy, Object.fromEntries(parts)];
    });
    return new Map(own);
  }

  /** A plugin, and the run's options for plugins of its kind besides their settings. */
  #more(name: KindName, block: PluginBlock): AnyAttempt | undefined {
    const { path, value } = block;
    if (name === 'taskGenerators' && value === undefined) return undefined;
    if (name === 'toolCallFormats') return this.#toolCallFormat(block);
    const attempt = this.#of(name, block);
    const said = isRecord(value) ? value : {};
    if (name === 'tools') return this.#configured(path, attempt);
    if (name === 'rewards')
      return Object.assign(attempt, this.#ofReward(block, attempt as Attempt<ChosenReward>));
    if (name === 'trackers') {
      const { queue, deadlineS, closeS } = said;
      return Object.assign(attempt, { limits: { queue, deadlineS, closeS } });
    }
    if (name !== 'environments') return attempt;
    this.#configured(path, attempt);
    const { type, name: own = type } = said;
    const { entry } = attempt as Attempt<ChosenEnvironment>;
    const agents = agentsOf(entry?.spec, this.loaded.config);
    return Object.assign(attempt, { name: own, agents });
  }

  #of(name: KindName, { path, value }: PluginBlock, namedAt = `${path}.type`): AnyAttempt {
    const registry: Registry<PluginSpec> = this.plugins[name];
    if (!namesPlugin(value)) return { ...noPlugin };
    const { places, replacedPlugins } = this.loaded;
    if (!registry.has(value.type)) {
      this.#unknown = true;
      this.#report(namedAt, [unknownType(registry, value.type), ...replacedPlugins].join(' '));
      return { ...noPlugin };
    }
    const entry = registry.get(value.type);
    const own = ownSettings(path.startsWith('policies.') ? { at: path } : kindOf(name));
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

  /** The name and the weight of a reward in the run. */
  #ofReward({ path, value }: PluginBlock, { entry, settings }: Attempt<ChosenReward>) {
    if (!namesPlugin(value)) return { name: path, weight: 0, blind: false };
    const { weight, tool, name } = value as Config['rewards'][number];
    // With problems nothing is chosen, and the function may rely on checked settings.
    const blind = entry !== undefined && !this.broken && isBlind(entry.spec, settings);
    return { name: rewardName({ type: value.type, name, tool }), weight, blind, tool };
  }

  /** The format that a policy's block names, unless it is `auto`. */
  #toolCallFormat({ path, value = automatic }: PluginBlock): AnyAttempt | undefined {
    const block = typeof value === 'string' ? { type: value } : value;
    if (!namesPlugin(block)) {
      // A value of another kind was reported with the rest of the config.
      if (typeof value === 'object') this.#report(path, 'has no type. Add "type: NAME".');
      return { ...noPlugin };
    }
    if (block.type !== automatic) {
      const namedAt = typeof value === 'string' ? path : `${path}.type`;
      return this.#of('toolCallFormats', { path, value: block }, namedAt);
    }
    if (Object.keys(block).length > 1)
      this.#report(
        path,
        `"${automatic}" takes no settings. Set type to the name of the format that these settings are for.`,
      );
    return undefined;
  }

  /** A tool or an environment with the parts of its spec that follow from its settings. */
  #configured(path: string, plugin: AnyAttempt): AnyAttempt {
    const { entry, settings } = plugin as Attempt<Chosen<ToolSpec>>;
    // Its own problems are reported already, and `configure` may rely on checked settings.
    const broken = this.#problems.some((problem) => problem.path.startsWith(path));
    if (entry?.spec.configure === undefined || broken) return plugin;
    try {
      const spec = { ...entry.spec, ...entry.spec.configure(settings) };
      return { entry: { ...entry, spec }, settings };
    } catch (thrown) {
      this.#report(path, messageOf(thrown));
      return plugin;
    }
  }

  /** By the name in its spec: a tool may be listed twice under two names, by which the model calls it. */
  refuseRepeats(path: string, chosen: readonly Attempt<Chosen<{ name: string }>>[]): void {
    const names = chosen.map(({ entry }) => entry?.spec.name);
    for (const [index, name] of names.entries()) {
      const first = names.indexOf(name);
      if (name === undefined || first === index) continue;
      this.#report(
        `${path}.${index}.type`,
        `duplicate "${name}" (also ${path}.${first}). Keep one.`,
      );
    }
  }

  /** Plugins that their kind says this run cannot use. */
  refuseUnusable(name: KindName, attempts: Attempts, weights: readonly number[]): void {
    const { kind, chosen } = kindOf(name);
    const blocks = blocksOf(this.loaded.config, kindOf(name));
    const all = [attempts[chosen as keyof Attempts]].flat() as (AnyAttempt | undefined)[];
    for (const [index, one] of all.entries()) {
      if (one?.entry === undefined) continue;
      const { spec, source } = one.entry;
      for (const text of kind.problemsInRun(spec as never, { source, weights }))
        this.#report(`${blocks[index]?.path}.type`, text);
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
