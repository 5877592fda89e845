import { Type, type TProperties, type TSchema } from 'typebox';

import {
  checkBlock,
  configInvalid,
  EnvironmentBlock,
  type LoadedConfig,
  nearestName,
  placeOf,
  PolicyBlock,
  type Problem,
  RewardsBlock,
  ToolsBlock,
} from '../config/index.ts';
import type { EnvironmentSpec } from '../core/environment.ts';
import { AgentRlError, messageOf } from '../core/errors.ts';
import type { Registry, RegistryEntry } from '../core/plugin.ts';
import type { PolicySpec } from '../core/policy.ts';
import type { RewardSpec } from '../core/reward.ts';
import type { ToolSpec } from '../core/tool.ts';
import type { Plugins } from './registries.ts';

/** A plugin that a run uses, with its own settings: checked, defaults filled in. */
export interface Chosen<Spec> {
  readonly entry: RegistryEntry<Spec>;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The plugins that a config names. */
export interface ChosenPlugins {
  readonly environment: Chosen<EnvironmentSpec>;
  readonly policy: Chosen<PolicySpec>;
  readonly tools: readonly Chosen<ToolSpec>[];
  readonly rewards: readonly (Chosen<RewardSpec> & { readonly weight: number })[];
}

/** One block of the config that names a plugin. */
interface Block<Spec extends { readonly name: string; readonly settings?: TSchema }> {
  /** Dotted. */
  readonly path: string;
  readonly value: { readonly type: string };
  readonly registry: Registry<Spec>;
  /** What every block of this kind may hold. */
  readonly own: TProperties;
}

/**
 * Finds the plugins a config names and checks each one's block against its own schema.
 *
 * @param found what is wrong with the config already; told together with what is found here
 * @throws AgentRlError `PLUGIN_UNKNOWN` or `CONFIG_INVALID`, all problems at once with their places;
 * `PLUGIN_LOAD_FAILED` for a plugin whose settings' schema cannot be used.
 */
export function choosePlugins(
  loaded: LoadedConfig,
  plugins: Plugins,
  found: readonly Problem[] = [],
): ChosenPlugins {
  const config = namingBlocks(loaded.config);
  const choice = new Choice(loaded, found);
  const environment = choice.of({
    path: 'environment',
    value: config.environment,
    registry: plugins.environments,
    own: EnvironmentBlock.properties,
  });
  const policy = choice.of({
    path: 'policy',
    value: config.policy,
    registry: plugins.policies,
    own: PolicyBlock.properties,
  });
  const tools = config.tools.map((value, index) =>
    choice.of({
      path: `tools.${index}`,
      value,
      registry: plugins.tools,
      own: ToolsBlock.items.properties,
    }),
  );
  const rewards = config.rewards.map((value, index) => {
    const own = RewardsBlock.items.properties;
    const block = { path: `rewards.${index}`, value, registry: plugins.rewards, own };
    return { ...choice.of(block), weight: namesPlugin(value) ? value.weight : 0 };
  });
  choice.refuseRepeats('tools', config.tools);
  choice.requireTools(environment.entry?.spec, config.tools);
  choice.throwProblems();
  // Every entry is there: a missing one is a problem, and problems were just thrown.
  return { environment, policy, tools, rewards } as ChosenPlugins;
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [];

/** The blocks that name plugins. In a config with problems they may be of any form. */
const namingBlocks = ({ environment, policy, tools, rewards }: LoadedConfig['config']) => ({
  environment,
  policy,
  tools: listOf(tools) as typeof tools,
  rewards: listOf(rewards) as typeof rewards,
});

/** Whether a block names a plugin; one that does not is a problem that was found before. */
const namesPlugin = (block: unknown): boolean =>
  typeof block === 'object' &&
  block !== null &&
  'type' in block &&
  typeof block.type === 'string' &&
  block.type !== '';

interface Attempt<Spec> {
  readonly entry: RegistryEntry<Spec> | undefined;
  readonly settings: Readonly<Record<string, unknown>>;
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

  of<Spec extends { readonly name: string; readonly settings?: TSchema }>({
    path,
    value,
    registry,
    own,
  }: Block<Spec>): Attempt<Spec> {
    if (!namesPlugin(value)) return { entry: undefined, settings: {} };
    if (!registry.has(value.type)) {
      this.#unknown = true;
      this.#report(`${path}.type`, unknownType(registry, value.type));
      return { entry: undefined, settings: {} };
    }
    const entry = registry.get(value.type);
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

  refuseRepeats(path: string, blocks: readonly { readonly type: string }[]): void {
    for (const [index, block] of blocks.entries()) {
      if (!namesPlugin(block)) continue;
      const { type } = block;
      const first = blocks.findIndex((other) => namesPlugin(other) && other.type === type);
      if (first === index) continue;
      this.#report(`${path}.${index}.type`, `"${type}" is already ${path}.${first}. Keep one.`);
    }
  }

  requireTools(
    environment: EnvironmentSpec | undefined,
    tools: readonly { readonly type: string }[],
  ): void {
    // A tool that is not known may be meant as the one that is missing.
    if (this.#unknown || !tools.every(namesPlugin)) return;
    for (const name of environment?.requires ?? []) {
      if (tools.some(({ type }) => type === name)) continue;
      const text = `environment ${environment?.name} cannot do without the tool "${name}". Add "- type: ${name}".`;
      this.#report('tools', text);
    }
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

function unknownType<Spec extends { readonly name: string }>(
  registry: Registry<Spec>,
  type: string,
) {
  const near = nearestName(type, registry.names());
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  const known = registry.names().join(', ') || 'none';
  return `no ${registry.kind} is named "${type}".${hint} Known: ${known}. To use your own, name its file or package under plugins: or with --plugin.`;
}

/** @throws AgentRlError `PLUGIN_LOAD_FAILED` when the plugin's schema is at fault and not the settings. */
function checkSettings<Checked>(
  { spec, source, plugin }: RegistryEntry<{ readonly name: string }>,
  check: () => Checked,
): Checked {
  try {
    return check();
  } catch (cause) {
    const name = typeof plugin === 'function' ? ` (${plugin.name})` : '';
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `The plugin "${spec.name}"${name} from ${source} cannot be used: settings: is no JSON Schema that can be used: ${messageOf(cause)}.`,
      { cause },
    );
  }
}

interface ObjectSchema {
  readonly properties?: TProperties;
  readonly required?: readonly string[];
}

/** One schema for a block that holds a plugin's settings beside the kind's own fields. */
function besides(own: TProperties, settings: TSchema = Type.Object({})): TSchema {
  const { properties = {}, required = [] }: ObjectSchema = settings;
  return { ...settings, properties: { ...own, ...properties }, required: [...required, 'type'] };
}
