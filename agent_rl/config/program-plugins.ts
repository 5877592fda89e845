/** A plugin that a program gave, as the `plugins` of a run's `config.yaml` name it: its kind and its name. */
export interface ProgramPlugin {
  /** A key of `Plugins`, such as `tools`. */
  kind: string;
  name: string;
}

const form = /^program:(?<kind>\w+)\/(?<name>.+)$/;

/** How `plugins` names a plugin that a program gave. */
export const programPlugin = ({ kind, name }: ProgramPlugin): string => `program:${kind}/${name}`;

/** The plugins of a list that a program gave: no file or package brings them. */
export const programPlugins = (plugins: readonly string[]): ProgramPlugin[] =>
  plugins.flatMap((specifier) => {
    const { kind, name } = form.exec(specifier)?.groups ?? {};
    return kind === undefined || name === undefined ? [] : [{ kind, name }];
  });

/** Whether a program gave a plugin, which nothing can then load. */
export const isProgramPlugin = (specifier: string): boolean => form.test(specifier);
