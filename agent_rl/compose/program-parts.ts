import {
  type Config,
  isProgramPlugin,
  type LoadedConfig,
  type Override,
  type ProgramPlugin,
  programPlugin,
  programPlugins,
} from '../config/index.ts';
import { builtInSource, type PluginSpec, type RegistryEntry } from '../core/plugins/plugin.ts';
import type { Chosen, ChosenPlugins } from './plugins/choose-plugins.ts';
import { kindNames, kinds, type KindName, type Needs, type Plugins } from './plugins/kinds.ts';
import { programSource } from './plugins/registries.ts';

const sparing: readonly Needs[] = ['model', 'agent', 'all'];

/** Whether a job does without plugins of a kind. */
export const isSpared = (kind: string, needs: Needs): boolean =>
  isKind(kind) && sparing.indexOf(kinds[kind].needs) > sparing.indexOf(needs);

const isKind = (kind: string): kind is KindName => Object.hasOwn(kinds, kind);

/** The plugins that a program passed to a run and that are missing now. */
export const missingParts = ({ config }: LoadedConfig, plugins: Plugins): ProgramPlugin[] =>
  programPlugins(config.plugins).filter(({ kind, name }) => {
    const entry = entriesOf(plugins, kind).find(({ spec }) => spec.name === name);
    // A built-in one of the same name is another.
    return entry === undefined || entry.source === builtInSource;
  });

const entriesOf = (plugins: Plugins, kind: string): readonly RegistryEntry<PluginSpec>[] =>
  isKind(kind) ? plugins[kind].entries() : [];

/**
 * For example: `the tool "add" and the reward "reward" were passed by a program, and no file or package provides them`.
 */
export function gaveParts(parts: readonly ProgramPlugin[], plugins: Plugins): string {
  const names = parts.map(
    ({ kind, name }) => `the ${isKind(kind) ? plugins[kind].kind : kind} "${name}"`,
  );
  const [were, them] = names.length === 1 ? ['was', 'it'] : ['were', 'them'];
  const list = [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' and ');
  return `${list} ${were} passed by a program, and no file or package provides ${them}`;
}

/**
 * Overrides for a job that plays no tasks, in a run with missing plugins.
 *
 * @param reads whether the job still reads the dataset files
 * @param known the plugins that exist: an environment among them stays
 */
export function withoutParts(
  { agents, environment, tools, datasets, plugins }: Config,
  missing: readonly ProgramPlugin[],
  { reads, known }: { reads: boolean; known: Plugins },
): Override[] {
  const isGiven = [environment]
    .flat()
    .every(({ type }) =>
      entriesOf(known, 'environments').some(
        ({ spec, source }) => spec.name === type && source === programSource,
      ),
    );
  const names = new Set(missing.filter(({ kind }) => kind === 'tools').map(({ name }) => name));
  const judging = kindNames
    .filter((name) => kinds[name].needs === 'all' && !kinds[name].at.includes('.*.'))
    .map((name) => ({ name, path: kinds[name].at.replace('.*', '') }))
    .filter(({ name, path }) => !path.includes('.') || missing.some(({ kind }) => kind === name));
  const settings: Readonly<Record<string, unknown>> = {
    ...Object.fromEntries(judging.map(({ path }) => [path, undefined])),
    tools: tools.filter(({ type }) => !names.has(type)),
    environment: isGiven ? environment : { type: 'question' },
    agents: isGiven ? agents : undefined,
    datasets: datasets.map(({ environment: _environment, generator, ...folder }) =>
      generator === undefined ? folder : reads ? { generator } : { dir: '.' },
    ),
    eval: undefined,
    trackers: [],
    plugins: plugins.filter((specifier) => !isProgramPlugin(specifier)),
  };
  return Object.entries(settings).map(([path, value]) => ({ source: programSource, path, value }));
}

/** The config whose `plugins` also lists the program's plugins that the run uses, so that the run remembers them. */
export function rememberingParts(
  loaded: LoadedConfig,
  chosen: readonly ChosenPlugins[],
  plugins: Plugins,
): LoadedConfig {
  const used = new Set(chosen.flatMap((one) => Object.values(one)).flatMap(pluginsOf));
  const given = Object.keys(plugins).flatMap((kind) =>
    entriesOf(plugins, kind)
      .filter(({ plugin, source }) => source === programSource && used.has(plugin))
      .map(({ spec: { name } }) => programPlugin({ kind, name })),
  );
  const { plugins: named } = loaded.config;
  const added = given.filter((specifier) => !named.includes(specifier));
  if (added.length === 0) return loaded;
  const all = Object.freeze([...named, ...added]);
  const source = { source: programSource };
  const places = added.map(
    (_, index) => [`/plugins/${named.length + index}`, { key: source, value: source }] as const,
  );
  return {
    ...loaded,
    config: Object.freeze({ ...loaded.config, plugins: all }),
    written: { ...(loaded.written as object), plugins: all },
    places: new Map([...loaded.places, ...places]),
  };
}

type OfKind = ChosenPlugins[keyof ChosenPlugins];

const pluginsOf = (ofKind: OfKind): unknown[] =>
  [ofKind].flat().map((one) => (one as Chosen<unknown> | undefined)?.entry.plugin);
