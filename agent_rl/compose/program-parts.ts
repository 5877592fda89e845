import {
  type Config,
  isProgramPlugin,
  type LoadedConfig,
  type Override,
  type ProgramPlugin,
  programPlugin,
  programPlugins,
} from '../config/index.ts';
import { builtInSource } from '../core/plugins/plugin.ts';
import type { Chosen, ChosenPlugins } from './plugins/choose-plugins.ts';
import { type Plugins, programSource } from './plugins/registries.ts';

/** What of a run a job cannot do without: its policy; its tools too, to be asked; all of it, to be judged or trained. */
export type Needs = 'all' | 'agent' | 'model';

const judging = new Set<string>([
  'environments',
  'rewards',
  'rewardManagers',
  'trackers',
  'taskGenerators',
  'advantages',
  'losses',
  'corrections',
  'selections',
] satisfies (keyof Plugins)[]);

/** Whether a job does without plugins of a kind. */
export const isSpared = (kind: string, needs: Needs): boolean =>
  needs !== 'all' && (judging.has(kind) || (kind === 'tools' && needs === 'model'));

/** The plugins that a program gave to a run, and that nothing brings now. */
export const missingParts = ({ config }: LoadedConfig, plugins: Plugins): ProgramPlugin[] =>
  programPlugins(config.plugins).filter(({ kind, name }) => {
    const entry = entriesOf(plugins, kind).find(({ spec }) => spec.name === name);
    // A built-in one of the same name is another.
    return entry === undefined || entry.source === builtInSource;
  });

const entriesOf = (plugins: Plugins, kind: string) =>
  Object.hasOwn(plugins, kind) ? plugins[kind as keyof Plugins].entries() : [];

/** That a program gave parts: `the tool "add" and the reward "reward" were given by a program, and no file or package brings them`. */
export function gaveParts(parts: readonly ProgramPlugin[], plugins: Plugins): string {
  const names = parts.map(({ kind, name }) => {
    const word = Object.hasOwn(plugins, kind) ? plugins[kind as keyof Plugins].kind : kind;
    return `the ${word} "${name}"`;
  });
  const [were, them] = names.length === 1 ? ['was', 'it'] : ['were', 'them'];
  const list = [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' and ');
  return `${list} ${were} given by a program, and no file or package brings ${them}`;
}

const partsOfAlgorithm = {
  advantages: 'advantage',
  losses: 'loss',
  corrections: 'correction',
  selections: 'selection',
};

/**
 * Settings for a job that plays no tasks, over those of a run some of whose parts are missing.
 *
 * @param reads whether it reads the files of data sets all the same
 */
export function withoutParts(
  { tools, datasets, plugins }: Config,
  missing: readonly ProgramPlugin[],
  { reads }: { reads: boolean },
): Override[] {
  const names = new Set(missing.filter(({ kind }) => kind === 'tools').map(({ name }) => name));
  const ofAlgorithm = missing.flatMap(({ kind }) =>
    kind in partsOfAlgorithm
      ? [`algorithm.${partsOfAlgorithm[kind as keyof typeof partsOfAlgorithm]}`]
      : [],
  );
  const settings: Readonly<Record<string, unknown>> = {
    tools: tools.filter(({ type }) => !names.has(type)),
    environment: { type: 'question' },
    agents: undefined,
    datasets: datasets.map(({ environment: _environment, generator, ...folder }) =>
      generator === undefined ? folder : reads ? { generator } : { dir: '.' },
    ),
    rewards: undefined,
    rewardManager: undefined,
    eval: undefined,
    trackers: [],
    plugins: plugins.filter((specifier) => !isProgramPlugin(specifier)),
    ...Object.fromEntries(ofAlgorithm.map((path) => [path, undefined])),
  };
  return Object.entries(settings).map(([path, value]) => ({ source: programSource, path, value }));
}

/** The config with the plugins among its `plugins` that this program gives and the run uses, so that the run remembers them. */
export function rememberingParts(
  loaded: LoadedConfig,
  chosen: ChosenPlugins,
  plugins: Plugins,
): LoadedConfig {
  const used = new Set(Object.values(chosen).flatMap(pluginsOf));
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
