import { kindNames, kindOf, placeText } from '../compose/plugins/kinds.ts';
import type { PluginDescription } from '../compose/plugins/registries.ts';
import { builtInSource } from '../core/plugins/plugin.ts';
import { type Setting, settingsOf } from '../config/settings-of.ts';

const foreign = ({ source }: PluginDescription): string =>
  source === builtInSource ? '' : ` (${source})`;

/** All plugins: a table of names and descriptions for each kind. */
export function pluginListText(plugins: readonly PluginDescription[], program: string): string {
  const tables = kindNames.map(kindOf).map(({ kind: { kind }, title, at }) => {
    const rows = plugins
      .filter((plugin) => plugin.kind === kind)
      .map((plugin) => [plugin.name, `${plugin.description}${foreign(plugin)}`]);
    const body = rows.length === 0 ? '  none' : textTable(rows);
    return `${title} (in a run file: ${placeText({ at })})\n${body}`;
  });
  return [...tables, `To see the settings of a plugin: ${program} plugins NAME`].join('\n\n');
}

const typeOf = ({ type, values, unit }: Setting): string =>
  (values?.join(' | ') ?? type) + (unit === undefined ? '' : `, ${unit}`);

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
  const row = kindNames.map(kindOf).find((one) => one.kind.kind === kind);
  const place = row === undefined ? '' : placeText(row, name);
  const title = `${kind[0]?.toUpperCase()}${kind.slice(1)} ${name} (${source})`;
  return [
    `${title}\n${description}\nIn a run file: ${place}`,
    ...(settings === undefined ? [] : [`Settings\n${settingsTable(settings)}`]),
    ...(parameters === undefined ? [] : [`Arguments of a call\n${settingsTable(parameters)}`]),
  ].join('\n\n');
}

/** Words in lines of at most `width` characters; a longer word has a line of its own. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1) ?? '';
    const longer = last === '' ? word : `${last} ${word}`;
    if (longer.length <= width || last === '') lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const gap = 2;
/** A column that is not the last is not wider than this; what is longer is wrapped. */
const widest = 26;

/** Rows in columns, indented by two; long text continues on the next line of its cell. */
function textTable(rows: string[][], width = 100): string {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) => {
    const longest = Math.max(...rows.map((row) => row[column]?.length ?? 0));
    return column === count - 1 ? longest : Math.min(longest, widest);
  });
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + gap, gap);
  widths[count - 1] = Math.max(30, width - before);
  return rows.map((row) => rowText(row, widths)).join('\n');
}

function rowText(row: string[], widths: number[]): string {
  const cells = row.map((cell, column) => wrapped(cell, widths[column] ?? cell.length));
  const height = Math.max(...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) => {
    const parts = cells.map((cell, column) =>
      (cell[line] ?? '').padEnd((widths[column] ?? 0) + gap),
    );
    return `  ${parts.join('')}`.trimEnd();
  }).join('\n');
}
