import { ConfigSchema } from './config-schema.ts';

/** One setting, as a table shows it. */
export interface Setting {
  /** Dotted: `train.iterations`, `tools[].type`. */
  path: string;
  /** Its type: `integer`, `list`, or the allowed values. */
  type: string;
  /** The allowed values, if it is limited to some. */
  values?: string[] | undefined;
  unit?: string | undefined;
  /** Of a number: `0 to 1`, `above 0 to 10`. */
  range?: string | undefined;
  /** As it is written in a run file; absent for a setting without a default. */
  default?: string | undefined;
  description: string;
  /** It is required in its block. */
  required: boolean;
}

interface Node {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Node[];
  else?: Node;
  default?: unknown;
  description?: string;
  unit?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  properties?: Record<string, Node>;
  items?: Node;
  patternProperties?: Record<string, Node>;
  required?: string[];
}

const written = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

function typeOf({ type, anyOf, else: one }: Node): string {
  if (one !== undefined) return 'block or list';
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ');
  return [type ?? 'any'].flat().join(' or ');
}

function valuesOf({ enum: values, const: only, anyOf }: Node): unknown[] | undefined {
  if (values !== undefined) return values;
  if (only !== undefined) return [only];
  const parts = anyOf?.map(valuesOf);
  return parts?.every((part) => part !== undefined) === true ? parts.flat() : undefined;
}

/** The least and the largest value of a number that has both. */
function rangeOf(node: Node): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = node;
  const [least, most] = [minimum ?? exclusiveMinimum, maximum ?? exclusiveMaximum];
  if (least === undefined || most === undefined) return undefined;
  const from = minimum === undefined ? `above ${least}` : `${least}`;
  return `${from} to ${maximum === undefined ? 'below ' : ''}${most}`;
}

function settingOf(node: Node, path: string, required: boolean): Setting {
  const values = valuesOf(node)?.map(written);
  const range = rangeOf(node);
  return {
    path,
    type: typeOf(node),
    values,
    unit: node.unit,
    range,
    default: node.default === undefined ? undefined : written(node.default),
    description: node.description ?? '',
    // What has a default may be left out, whatever the schema says of the filled-in block.
    required: required && node.default === undefined,
  };
}

/** The settings of the alternative blocks of a setting, each with the `type` it belongs to. */
function settingsOfChoices(choices: Node[], path: string): Setting[] {
  return choices.flatMap((choice) => {
    const { type, ...properties } = choice.properties ?? {};
    const [name] = type === undefined ? [] : (valuesOf(type) ?? []);
    const settings = settingsIn({ ...choice, properties }, path, false);
    if (name === undefined) return settings;
    for (const setting of settings) {
      setting.description = `With type ${written(name)}: ${setting.description}`;
    }
    return settings;
  });
}

function settingsIn(node: Node, path: string, required: boolean): Setting[] {
  const { properties, items, anyOf = [] } = node;
  if (node.else !== undefined)
    return [settingOf(node, path, required), ...settingsIn(node.else, path, true)];
  const choices = anyOf.filter((choice) => choice.properties !== undefined);
  if (choices.length > 0) {
    return [settingOf(node, path, required), ...settingsOfChoices(choices, path)];
  }
  if (items?.properties !== undefined) {
    return [
      { ...settingOf(node, path, required), type: 'list' },
      ...settingsIn(items, `${path}[]`, true),
    ];
  }
  const [named] = Object.values(node.patternProperties ?? {});
  if (named !== undefined) {
    // Blocks that stand elsewhere too: their settings are listed there.
    const blocks = Object.entries(named.properties ?? {});
    return [
      settingOf(node, path, required),
      ...blocks.map(([name, child]) => settingOf(child, `${path}.NAME.${name}`, false)),
    ];
  }
  if (properties === undefined) return [settingOf(node, path, required)];
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
  return Object.entries(properties).flatMap(([name, child]) =>
    settingsIn(child, below(name), node.required?.includes(name) === true),
  );
}

/** Every setting that a JSON Schema declares, including inner blocks. */
export const settingsOf = (schema: object): Setting[] => settingsIn(schema, '', true);

/** Every setting of a run file except plugin settings. */
export const settingsOfRuns = (): Setting[] => settingsOf(ConfigSchema);
