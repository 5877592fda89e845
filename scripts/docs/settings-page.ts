import { builtinPlugins } from '../../agent_rl/compose/plugins/builtin-plugins.ts';
import {
  describePlugins,
  type PluginDescription,
} from '../../agent_rl/compose/plugins/registries.ts';
import { kindNames, kindOf } from '../../agent_rl/compose/plugins/kinds.ts';
import { ConfigSchema } from '../../agent_rl/config/config-schema.ts';
import { type Setting, settingsOf } from '../../agent_rl/config/settings-of.ts';
import { groupBy } from '../../agent_rl/core/long-lists.ts';
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

/** A plugin with fewer settings than this in common with an earlier one shows them again. */
const fewest = 3;

/** @param shown the plugin that each setting was last shown with, by its row */
function pluginText(
  { name, kind, description, settings }: PluginDescription,
  shown: Map<string, string>,
): string {
  const title = `${kind} ${code(name)}`;
  const own = settings === undefined ? [] : settingsOf(settings);
  const known = groupBy(own, (setting) => shown.get(row(setting).join()));
  known.delete(undefined);
  const others = [...known].filter(([, same]) => same.length >= fewest);
  const left = own.filter((setting) => !others.some(([, same]) => same.includes(setting)));
  for (const setting of left) shown.set(row(setting).join(), title);
  return [
    `### ${title}`,
    plain(description.endsWith('.') ? description : `${description}.`),
    ...(left.length > 0 || others.length === 0 ? [settingsTable(left)] : []),
    ...others.map(
      ([as, same]) => `As for ${as}: ${same.map(({ path }) => code(path)).join(', ')}.`,
    ),
  ].join('\n\n');
}

function pluginsText(): string[] {
  const all = describePlugins(builtinPlugins());
  const shown = new Map<string, string>();
  return kindNames
    .map(kindOf)
    .flatMap(({ kind: { kind }, title }) =>
      [`## ${title}`].concat(
        all.filter((plugin) => plugin.kind === kind).map((plugin) => pluginText(plugin, shown)),
      ),
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
