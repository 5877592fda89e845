import { ConfigSchema } from '../../agent_rl/config/config-schema.ts';

interface Node {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  default?: unknown;
  description?: string;
  unit?: string;
  properties?: Readonly<Record<string, Node>>;
  items?: Node;
  required?: readonly string[];
}

/** A default as a reader writes it; nothing where there is none. */
function shownDefault(node: Node): string {
  if (node.default === undefined) return '';
  return `\`${typeof node.default === 'string' ? node.default : JSON.stringify(node.default)}\``;
}

/** Text that Markdown would read as something else, escaped. */
const plain = (text = ''): string => text.replaceAll(/[|<>]/g, (mark) => `\\${mark}`);

const valueOf = ({ enum: values, type = 'any', unit }: Node): string =>
  (values?.map((value) => `\`${String(value)}\``).join(', ') ?? [type].flat().join(' or ')) +
  (unit === undefined ? '' : `, ${unit}`);

function rowsOf(node: Node, path: string): string[][] {
  const { properties, items } = node;
  if (items?.properties !== undefined) {
    const own = [`\`${path}\``, 'list', shownDefault(node), plain(node.description)];
    return [own, ...rowsOf(items, `${path}[]`)];
  }
  if (properties === undefined) {
    return [[`\`${path}\``, valueOf(node), shownDefault(node), plain(node.description)]];
  }
  return Object.entries(properties).flatMap(([name, child]) => rowsOf(child, `${path}.${name}`));
}

/** Every setting of a run file as rows: name, value, default, meaning. */
export const settingsRows = (): string[][] =>
  Object.entries((ConfigSchema as unknown as Node).properties ?? {}).flatMap(([name, node]) =>
    rowsOf(node, name),
  );
