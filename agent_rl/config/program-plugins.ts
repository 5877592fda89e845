import type { LoadedConfig } from './load-config.ts';

/** A plugin that a program gave, as the `plugins` of a run's `config.yaml` name it: its kind and its name. */
export interface ProgramPlugin {
  /** A key of `Plugins`, such as `tools`. */
  kind: string;
  name: string;
}

const form = /^program:(?<kind>\w+)\/(?<name>.+)$/;

/** How `plugins` names a plugin that a program gave. */
const programPlugin = ({ kind, name }: ProgramPlugin): string => `program:${kind}/${name}`;

/** The plugins of a list that a program gave: no file or package brings them. */
export const programPlugins = (plugins: readonly string[]): ProgramPlugin[] =>
  plugins.flatMap((specifier) => {
    const { kind, name } = form.exec(specifier)?.groups ?? {};
    return kind === undefined || name === undefined ? [] : [{ kind, name }];
  });

/** Whether a program gave a plugin, which nothing can then load. */
export const isProgramPlugin = (specifier: string): boolean => form.test(specifier);

/** A config that also names plugins that a program gives, so that its run remembers them. */
export function withProgramPlugins(
  loaded: LoadedConfig,
  given: readonly ProgramPlugin[],
  source: string,
): LoadedConfig {
  const { plugins: named } = loaded.config;
  const plugins = [...new Set([...named, ...given.map(programPlugin)])];
  if (plugins.length === named.length) return loaded;
  const place = { key: { source }, value: { source } };
  const added = plugins
    .slice(named.length)
    .map((_, i) => [`/plugins/${named.length + i}`, place] as const);
  return {
    ...loaded,
    config: Object.freeze({ ...loaded.config, plugins: Object.freeze(plugins) }),
    written: { ...(loaded.written as object), plugins },
    places: new Map([...loaded.places, ...added]),
  };
}
