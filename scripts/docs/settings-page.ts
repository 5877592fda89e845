import { builtinPlugins } from '../../agent_rl/compose/plugins/builtin-plugins.ts';
import {
  describePlugins,
  type PluginDescription,
} from '../../agent_rl/compose/plugins/registries.ts';
import { kindNames, kindOf } from '../../agent_rl/compose/plugins/kinds.ts';
import { ConfigSchema } from '../../agent_rl/config/config-schema.ts';
import { type Setting, settingsOf } from '../../agent_rl/config/settings-of.ts';
import { BuildSettings } from '../../agent_rl/search/corpus/index.ts';
import { code, page, plain, table } from './markdown.ts';

const typeOf = ({ type, values, unit, range }: Setting): string =>
  [
    values?.map(code).join(', ') ?? type,
    ...(range === undefined ? [] : [range]),
    ...(unit === undefined ? [] : [unit]),
  ].join(', ');

const row = (setting: Setting): string[] => [
  code(setting.path),
  typeOf(setting),
  setting.required ? 'required' : code(setting.default ?? ''),
  plain(setting.description),
];

const settingsTable = (settings: Setting[]): string =>
  settings.length === 0
    ? 'It has no settings.'
    : table(['Setting', 'Value', 'Default', 'Meaning'], settings.map(row));

function pluginText({ name, kind, description, settings }: PluginDescription): string {
  const sentence = description.endsWith('.') ? description : `${description}.`;
  return [
    `### ${kind} ${code(name)}`,
    plain(sentence),
    settingsTable(settings === undefined ? [] : settingsOf(settings)),
  ].join('\n\n');
}

function pluginsText(): string[] {
  const all = describePlugins(builtinPlugins());
  return kindNames
    .map(kindOf)
    .flatMap(({ kind: { kind }, title }) =>
      [`## ${title}`].concat(all.filter((plugin) => plugin.kind === kind).map(pluginText)),
    );
}

function blocksText(): string[] {
  const all = settingsOf(ConfigSchema);
  return Object.entries(
    ConfigSchema.properties as Record<string, { description?: string }>,
  ).flatMap(([name, { description = '' }]) => {
    const own = all.filter(({ path }) => new RegExp(`^${name}(?:[.[]|$)`).test(path));
    return [`## ${code(`${name}:`)}`, `${plain(description)}.`, settingsTable(own)];
  });
}

const places = kindNames
  .map((name) => code(kindOf(name).at.replace(/\.\*$/, '').replace('.*', '[]')))
  .join(', ');

/** `docs/reference/settings.md` */
export const settingsPage = (): string =>
  page(
    'Settings',
    'Every setting of a run file, its default and its meaning. A setting without a default is optional unless it is marked as required. `agent-rl train --config FILE --dry-run` checks a file.',
    `A block that names a plugin by \`type\` (${places}) also takes the settings of that plugin, which follow the settings of the run on this page. \`agent-rl plugins NAME\` shows them too, also for your own plugins. \`extends:\` takes a run file, or a list of run files; the file that extends them overrides their settings.`,
    ...blocksText(),
    ...pluginsText(),
    '## Corpus index',
    'Settings of `agent-rl data index --config FILE`, also given as `--set path=value`.',
    settingsTable(settingsOf(BuildSettings)),
  );
