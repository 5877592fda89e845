import { Type, type TProperties } from '../../core/typebox.ts';
import { schemaAt } from '../../config/config-schema.ts';
import { advantages } from '../../core/algorithm/advantage.ts';
import { corrections } from '../../core/algorithm/correction.ts';
import { losses } from '../../core/algorithm/loss.ts';
import { selections } from '../../core/algorithm/selection.ts';
import { environments } from '../../core/plugins/environment.ts';
import { generators } from '../../core/plugins/model/generator.ts';
import { learners } from '../../core/plugins/model/learner.ts';
import { isRecord } from '../../core/is-record.ts';
import type { PluginKind, PluginSpec, Registry } from '../../core/plugins/plugin.ts';
import { policies } from '../../core/plugins/policy.ts';
import { rewardManagers } from '../../core/plugins/reward-manager.ts';
import { rewards } from '../../core/plugins/reward.ts';
import { toolCallFormats } from '../../core/plugins/tool-call-format.ts';
import { tools } from '../../core/plugins/tool.ts';
import { trackers } from '../../core/plugins/tracker.ts';
import { taskGenerators } from '../../core/tasks/task-generator.ts';

/** How much of a run a job needs: what samples, also the tools, or everything that judges and trains. */
export type Needs = 'model' | 'agent' | 'all';

/** A kind of plugin, and where a run names its plugins. */
interface KindRow {
  /** The plural, in listings and pages. */
  title: string;
  /** Dotted: its block in a run file; `*` is each item of a list, or the one block that may stand there instead. */
  at: string;
  /** Its key in `ChosenPlugins`. */
  chosen: string;
  /** The least of a run that it belongs to. */
  needs: Needs;
}

const row = <Spec extends PluginSpec, const Row extends KindRow>(
  kind: PluginKind<Spec, unknown>,
  one: Row,
) => ({ kind, ...one });

/**
 * Every kind of plugin, by its key in `Plugins`. Registries, the choice of a run's plugins, absolute paths in their
 * settings, `agent-rl plugins`, the reference pages and what a program may pass are loops over this table.
 */
export const kinds = {
  tools: row(tools, { title: 'Tools', at: 'tools.*', chosen: 'tools', needs: 'agent' }),
  environments: row(environments, {
    title: 'Environments',
    at: 'environment.*',
    chosen: 'environments',
    needs: 'all',
  }),
  policies: row(policies, { title: 'Policies', at: 'policy', chosen: 'policy', needs: 'model' }),
  rewards: row(rewards, { title: 'Rewards', at: 'rewards.*', chosen: 'rewards', needs: 'all' }),
  rewardManagers: row(rewardManagers, {
    title: 'Reward managers',
    at: 'rewardManager',
    chosen: 'rewardManager',
    needs: 'all',
  }),
  toolCallFormats: row(toolCallFormats, {
    title: 'Tool-call formats',
    at: 'policy.toolCallFormat',
    chosen: 'toolCallFormat',
    needs: 'model',
  }),
  generators: row(generators, {
    title: 'Generators',
    at: 'generator',
    chosen: 'generator',
    needs: 'model',
  }),
  learners: row(learners, { title: 'Learners', at: 'learner', chosen: 'learner', needs: 'model' }),
  advantages: row(advantages, {
    title: 'Advantages',
    at: 'algorithm.advantage',
    chosen: 'advantage',
    needs: 'all',
  }),
  losses: row(losses, { title: 'Losses', at: 'algorithm.loss', chosen: 'loss', needs: 'all' }),
  corrections: row(corrections, {
    title: 'Corrections',
    at: 'algorithm.correction',
    chosen: 'correction',
    needs: 'all',
  }),
  selections: row(selections, {
    title: 'Selections',
    at: 'algorithm.selection',
    chosen: 'selection',
    needs: 'all',
  }),
  trackers: row(trackers, {
    title: 'Trackers',
    at: 'trackers.*',
    chosen: 'trackers',
    needs: 'all',
  }),
  taskGenerators: row(taskGenerators, {
    title: 'Task generators',
    at: 'datasets.*.generator',
    chosen: 'taskGenerators',
    needs: 'all',
  }),
};

export type Kinds = typeof kinds;
/** A key of `Plugins`. */
export type KindName = keyof Kinds;
export const kindNames = Object.keys(kinds) as readonly KindName[];

/** The spec of a kind's plugins. */
export type SpecOf<Name extends KindName> =
  Kinds[Name]['kind'] extends PluginKind<infer Spec, unknown> ? Spec : never;

/** Everything a run can name: a registry of each kind. */
export type Plugins = { readonly [Name in KindName]: Registry<SpecOf<Name>> };

/** The kinds whose plugins each policy of a run names for itself, see `policies`. */
export const policyKinds = ['policies', 'toolCallFormats', 'generators', 'learners'] as const;

/** A kind without its own types, for code that handles every kind. */
export interface AnyKind extends KindRow {
  kind: PluginKind<
    PluginSpec & { readonly description: string; readonly parameters?: object },
    unknown
  >;
}

export const kindOf = (name: KindName): AnyKind => kinds[name];

/** Whether a run may have several plugins of a kind. */
export type IsMany<Name extends KindName> = Kinds[Name]['at'] extends `${string}*${string}`
  ? true
  : false;

/** The fields that every block of a kind may have besides plugin settings. */
export function ownSettings({ at }: Pick<KindRow, 'at'>): TProperties {
  const { properties } = schemaAt(at.split('.')) ?? {};
  return properties ?? { type: Type.String({ minLength: 1 }) };
}

/** How a run file names a plugin: `tools: [{type: NAME}]`. */
export function placeText({ at }: Pick<KindRow, 'at'>, name = 'NAME'): string {
  const keys = at.split('.');
  const isType = (type: string, depth: number) =>
    [schemaAt(keys.slice(0, depth))?.type].flat().includes(type);
  const block = isType('string', keys.length) ? name : `{type: ${name}}`;
  return keys.reduceRight((text, key, depth) => {
    if (key === '*') return isType('array', depth) ? `[${text}]` : text;
    return depth === 0 ? `${key}: ${text}` : `{${key}: ${text}}`;
  }, block);
}

/** A block of a run file that names a plugin, and its dotted path; undefined where its key is missing. */
export interface PluginBlock {
  path: string;
  value: unknown;
}

/** The blocks of a run file that name plugins of a kind. In a file with problems they may be anything. */
export function blocksOf(config: unknown, { at }: Pick<KindRow, 'at'>): PluginBlock[] {
  const blocks: PluginBlock[] = [];
  changeAt({ path: '', value: config }, at.split('.'), (block) => void blocks.push(block));
  return blocks;
}

/** A run file with the blocks that name plugins of a kind changed. */
export const changeBlocks = <Value>(
  config: Value,
  { at }: Pick<KindRow, 'at'>,
  change: (block: PluginBlock, index: number) => unknown,
): Value => {
  let index = 0;
  const counted = (block: PluginBlock) => change(block, index++);
  return changeAt({ path: '', value: config }, at.split('.'), counted) as Value;
};

/** A value with one place changed; a missing key stays missing if the change returns undefined. */
function changeAt(
  { path, value }: PluginBlock,
  keys: readonly string[],
  change: (block: PluginBlock) => unknown,
): unknown {
  const [key, ...below] = keys;
  if (key === undefined) return change({ path, value });
  if (key === '*') {
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return changeAt({ path, value }, below, change);
    return value.map((item, index) =>
      changeAt({ path: `${path}.${index}`, value: item }, below, change),
    );
  }
  const holder = isRecord(value) ? value : {};
  const inner = { path: path === '' ? key : `${path}.${key}`, value: holder[key] };
  const changed = changeAt(inner, below, change);
  return changed === inner.value ? value : { ...holder, [key]: changed };
}
