import type { PluginDescription } from '../compose/plugins/describe-plugins.ts';
import { type Setting, settingsOf } from '../config/settings-of.ts';
import { textTable } from './text-table.ts';

type Kind = PluginDescription['kind'];

/** Each kind, what its plugins are together, and where a run file names them. */
const kinds: { kind: Kind; title: string; place: string }[] = [
  { kind: 'tool', title: 'Tools', place: 'tools: [{type: NAME}]' },
  { kind: 'environment', title: 'Environments', place: 'environment: {type: NAME}' },
  { kind: 'policy', title: 'Policies', place: 'policy: {type: NAME}' },
  { kind: 'reward', title: 'Rewards', place: 'rewards: [{type: NAME}]' },
  { kind: 'tool-call format', title: 'Tool-call formats', place: 'policy: {toolCallFormat: NAME}' },
];

const foreign = ({ source }: PluginDescription): string =>
  source === 'built in' ? '' : ` (${source})`;

/** All plugins: a table of names and descriptions for each kind. */
export function pluginListText(plugins: readonly PluginDescription[], program: string): string {
  const tables = kinds.map(({ kind, title, place }) => {
    const rows = plugins
      .filter((plugin) => plugin.kind === kind)
      .map((plugin) => [plugin.name, `${plugin.description}${foreign(plugin)}`]);
    const body = rows.length === 0 ? '  none' : textTable(rows);
    return `${title} (in a run file: ${place})\n${body}`;
  });
  return [...tables, `The settings of one: ${program} plugins NAME`].join('\n\n');
}

const typeOf = ({ type, values, unit }: Setting): string =>
  (values?.join(' | ') ?? type) + (unit === undefined ? '' : `, ${unit}`);

/** The settings that a schema declares as a table. */
function settingsTable(schema: object): string {
  const rows = settingsOf(schema).map((setting) => [
    setting.path,
    typeOf(setting),
    setting.required ? 'required' : (setting.default ?? ''),
    setting.description,
  ]);
  if (rows.length === 0) return '  none';
  return textTable([['Name', 'Type', 'Default', 'Meaning'], ...rows]);
}

/** One plugin with its settings and, of a tool, the arguments a call may have. */
export function pluginText(plugin: PluginDescription): string {
  const { kind, name, description, source, settings, parameters } = plugin;
  const place = kinds.find((one) => one.kind === kind)?.place.replace('NAME', name) ?? '';
  const title = `${kind[0]?.toUpperCase()}${kind.slice(1)} ${name} (${source})`;
  return [
    `${title}\n${description}\nIn a run file: ${place}`,
    ...(settings === undefined ? [] : [`Settings\n${settingsTable(settings)}`]),
    ...(parameters === undefined ? [] : [`Arguments of a call\n${settingsTable(parameters)}`]),
  ].join('\n\n');
}
