import type { TSchema } from 'typebox';

import { AgentRlError } from '../errors.ts';
import { isClass, pluginProblems, type PluginRules, type PluginUse } from './plugin-rules.ts';

/** The fields of every plugin spec. */
export interface PluginSpec {
  readonly name: string;
  /** Schema of the plugin's own settings in YAML. */
  readonly settings?: TSchema;
}

interface Marked {
  readonly kind: string;
  readonly spec: PluginSpec;
}

// `Symbol.for`, so that a second copy of this package in a plugin's own node_modules is still understood.
const mark = Symbol.for('agent_rl.plugin');

const marks = (value: unknown): readonly Marked[] =>
  typeof value === 'function' && Object.hasOwn(value, mark)
    ? ((value as unknown as Record<symbol, readonly Marked[]>)[mark] ?? [])
    : [];

/**
 * One kind of plugin: its marker, and how its registries are made.
 *
 * Marking only remembers a spec on the class or function itself. Importing a plugin file therefore changes
 * nothing, and two registries in one process never see each other.
 */
export class PluginKind<Spec extends PluginSpec, Instance> {
  // Phantom type: ties the kind to the type of its plugins.
  declare readonly instance: Instance;

  /** @param rules rules for specs and classes, checked when a plugin is registered */
  constructor(
    readonly kind: string,
    private readonly rules: PluginRules<Spec>,
  ) {}

  /** Everything that is wrong with a marked plugin. */
  problemsOf(plugin: unknown): readonly string[] {
    return pluginProblems(plugin, this.specOf(plugin), this.rules);
  }

  /** Whether a value is an unmarked function that could be marked. */
  takes(value: unknown): boolean {
    const { orFunction = false, onlyFunction = false } = this.rules;
    return (orFunction || onlyFunction) && typeof value === 'function' && !isClass(value);
  }

  /** Reasons why a run cannot use a plugin with this spec, as sentences. */
  problemsInRun(spec: Spec, use: PluginUse): readonly string[] {
    return this.rules.problemsInRun?.(spec, use) ?? [];
  }

  /** Gives a class or function its spec, and gives it back. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what a kind's own marker accepts
  mark<Base extends object = object>(spec: Spec) {
    return <Target extends Base>(target: Target): Target => {
      const value = [...marks(target), { kind: this.kind, spec }];
      return Object.defineProperty(target, mark, { value, configurable: true });
    };
  }

  /** The spec `value` was marked with, or `undefined` when it is not a plugin of this kind. */
  specOf(value: unknown): Spec | undefined {
    return marks(value).findLast(({ kind }) => kind === this.kind)?.spec as Spec | undefined;
  }
}

/** The source of plugins that ship with the framework. */
export const builtInSource = 'built in';

/** A plugin and its source, for error messages and `agent-rl plugins`. */
export interface Sourced {
  readonly plugin: unknown;
  /** `built in`, a package name or a file. */
  readonly source: string;
}

export interface RegistryEntry<Spec> extends Sourced {
  readonly spec: Spec;
}

/** Plugins of one kind by name. Immutable: `with` makes a larger one. */
export class Registry<Spec extends PluginSpec> {
  readonly #byName = new Map<string, RegistryEntry<Spec>>();

  /**
   * @throws AgentRlError `PLUGIN_DUPLICATE` when two plugins share a name; `PLUGIN_UNMARKED`; `PLUGIN_LOAD_FAILED` when
   * a spec or a class breaks the rules of its kind.
   */
  constructor(
    private readonly pluginKind: PluginKind<Spec, unknown>,
    plugins: Iterable<Sourced> = [],
  ) {
    for (const sourced of plugins) this.#add(sourced);
  }

  get kind(): string {
    return this.pluginKind.kind;
  }

  /** @throws AgentRlError as the constructor does. */
  with(plugins: Iterable<Sourced>): Registry<Spec> {
    return new Registry(this.pluginKind, [...this.entries(), ...plugins]);
  }

  /** @throws AgentRlError `PLUGIN_UNKNOWN`, listing the names that do exist. */
  get(name: string): RegistryEntry<Spec> {
    const entry = this.#byName.get(name);
    if (entry !== undefined) return entry;
    const known = this.names().join(', ') || 'none';
    throw new AgentRlError(
      'PLUGIN_UNKNOWN',
      `Unknown ${this.kind} "${name}". Known: ${known}. To use your own, add its file or package under \`plugins:\` or with --plugin.`,
    );
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  names(): readonly string[] {
    return [...this.#byName.keys()].toSorted();
  }

  entries(): readonly RegistryEntry<Spec>[] {
    return [...this.#byName.values()];
  }

  #add(sourced: Sourced | RegistryEntry<Spec>): void {
    const { plugin, source } = sourced;
    const spec = this.pluginKind.specOf(plugin);
    if (spec === undefined) {
      throw new AgentRlError(
        'PLUGIN_UNMARKED',
        `${nameOf(plugin)} from ${source} is listed as a ${this.kind} but has no @${this.kind} decorator. Add it.`,
      );
    }
    // An entry of another registry was checked when that one was made.
    const problems = 'spec' in sourced ? [] : this.pluginKind.problemsOf(plugin);
    if (problems.length > 0) {
      throw new AgentRlError(
        'PLUGIN_LOAD_FAILED',
        `The ${this.kind} ${nameOf(plugin)} from ${source} cannot be used:\n  ${problems.join('\n  ')}`,
      );
    }
    const taken = this.#byName.get(spec.name);
    if (taken !== undefined && taken.plugin !== plugin) {
      throw new AgentRlError(
        'PLUGIN_DUPLICATE',
        `Two ${this.kind} plugins are named "${spec.name}": one from ${taken.source}, one from ${source}. Rename one of them.`,
      );
    }
    if (taken === undefined) this.#byName.set(spec.name, { plugin, source, spec });
  }
}

/** The class of a kind's registries. */
export const registryOf = <Spec extends PluginSpec>(
  kind: PluginKind<Spec, unknown>,
): new (plugins?: Iterable<Sourced>) => Registry<Spec> =>
  class extends Registry<Spec> {
    constructor(plugins: Iterable<Sourced> = []) {
      super(kind, plugins);
    }
  };

const nameOf = (plugin: unknown): string =>
  typeof plugin === 'function' && plugin.name !== '' ? plugin.name : typeof plugin;
