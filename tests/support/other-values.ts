import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { parse } from 'yaml';

import type { PreparedRun } from '#agent_rl/compose/prepare-run.ts';
import { blocksOf, kinds } from '#agent_rl/compose/plugins/kinds.ts';
import { ConfigSchema } from '#agent_rl/config/config-schema.ts';

interface Schema {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  default?: unknown;
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
}

/** A setting of a run, whether it was written down or not. */
export interface Leaf {
  /** Dotted. */
  path: string;
  schema: Schema;
  value: unknown;
}

interface Chosen {
  entry: { spec: { name: string; settings?: object } };
  settings: object;
}

/** Every setting of a run, including its plugins' settings, with its value. */
export function leavesOf({ loaded: { config }, chosen, plugins }: PreparedRun): Leaf[] {
  const own = (path: string, one: Chosen | undefined, spec = one?.entry.spec) =>
    one === undefined || spec?.settings === undefined
      ? []
      : leavesIn({ path, schema: spec.settings, value: one.settings });
  const listed = (path: string, all: readonly (Chosen | undefined)[]) =>
    all.flatMap((one, i) => own(`${path}.${i}`, one));
  const environments = blocksOf(config, kinds.environments);
  const generators = chosen.taskGenerators.map((one, i) => own(`datasets.${i}.generator`, one));
  return [
    ...leavesIn({ path: '', schema: ConfigSchema as Schema, value: config }),
    ...chosen.environments.flatMap((one, i) => own(environments[i]?.path ?? '', one)),
    ...own('policy', chosen.policy),
    // The registry's own: the chosen one is what `configure` made of it.
    ...chosen.tools.flatMap((one, i) =>
      own(`tools.${i}`, one, plugins.tools.get(config.tools[i]?.type ?? one.entry.spec.name).spec),
    ),
    ...listed('rewards', chosen.rewards),
    ...own('rewardManager', chosen.rewardManager),
    ...listed('trackers', chosen.trackers),
    ...generators.flat(),
    ...(['advantage', 'loss', 'selection', 'correction'] as const).flatMap((name) =>
      own(`algorithm.${name}`, chosen[name]),
    ),
    ...own('policy.toolCallFormat', chosen.toolCallFormat),
  ];
}

function leavesIn({ path, schema, value }: Leaf): Leaf[] {
  const { properties, items } = schema;
  const isThere = typeof value === 'object' && value !== null;
  if (properties !== undefined && isThere) {
    const all = value as Readonly<Record<string, unknown>>;
    return Object.entries(properties).flatMap(([key, part]) =>
      leavesIn({ path: path === '' ? key : `${path}.${key}`, schema: part, value: all[key] }),
    );
  }
  if (items?.properties !== undefined && Array.isArray(value)) {
    return value.flatMap((item: unknown, i) =>
      leavesIn({ path: `${path}.${i}`, schema: items, value: item }),
    );
  }
  return [{ path, schema, value }];
}

/** Values of settings whose schema does not say what they may be, by the ends of their paths. */
const examples = parse(
  readFileSync(new URL('../fixtures/settings/other-values.yaml', import.meta.url), 'utf8'),
) as Readonly<Record<string, readonly unknown[]>>;

const isBlockOf = (path: string, end: string): boolean => path === end || path.endsWith(`.${end}`);

/** Other values that the schema of a setting allows. */
export function otherValues({ path, schema, value }: Leaf): unknown[] {
  const [, example] = Object.entries(examples).find(([end]) => isBlockOf(path, end)) ?? [];
  const values = example ?? valuesOf(schema, value);
  return values.filter((one) => !isDeepStrictEqual(one, value));
}

function valuesOf(schema: Schema, value: unknown): unknown[] {
  if (schema.enum !== undefined) return [...schema.enum];
  if (schema.const !== undefined) return [schema.const];
  const [type] = [schema.type].flat();
  if (type === 'boolean') return [true, false];
  if (type === 'string') return [`${typeof value === 'string' ? value : 'some'}-other`];
  if (type !== 'integer' && type !== 'number') return [];
  return numbersOf(schema, typeof value === 'number' ? value : undefined);
}

/** Near the value first: what a person would try. */
function numbersOf(schema: Schema, value: number | undefined): number[] {
  const { minimum, maximum = Infinity, exclusiveMinimum, exclusiveMaximum = Infinity } = schema;
  const least = minimum ?? exclusiveMinimum ?? 0;
  const tried = value === undefined ? [least + 1] : [value + 1, value * 2, value / 2];
  const all = [...tried, 2, 1, least + 0.25, least + 1e-6, least];
  const whole = [schema.type].flat().includes('integer');
  return [...new Set(whole ? all.map(Math.floor) : all)].filter(
    (one) => one >= least && one !== exclusiveMinimum && one <= maximum && one < exclusiveMaximum,
  );
}
