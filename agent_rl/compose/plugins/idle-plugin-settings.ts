import { changed, type Config, type IdleSetting } from '../../config/index.ts';
import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { Chosen, ChosenPlugins } from './choose-plugins.ts';
import { blocksOf, type KindName, kindNames, kindOf } from './kinds.ts';

/** Plugin settings without effect in a training run: supervised training plays no episodes and calls no tools. */
export function idlePluginSettings(config: Config, chosen: ChosenPlugins): IdleSetting[] {
  const { algorithm, train } = config;
  if (train.mode === 'sft')
    return kindNames.flatMap((name) =>
      pluginsAt(name, config, chosen).flatMap((one) => idleInSupervised(name, one)),
    );
  const onPolicy = algorithm.epochs * algorithm.updatesPerBatch === 1 && config.async.lag === 0;
  return kindNames.flatMap((name) =>
    pluginsAt(name, config, chosen).flatMap(([path, { entry, settings }]) =>
      overruled({ path, schema: entry.spec.settings, value: settings }).concat(
        onPolicy ? offPolicySettings(path, { entry, settings }) : [],
      ),
    ),
  );
}

type Placed = readonly [path: string, plugin: Chosen<Configured>];

/** The plugins of a kind, each with the path of its block. */
function pluginsAt(name: KindName, config: Config, chosen: ChosenPlugins): Placed[] {
  const all = [chosen[kindOf(name).chosen as keyof ChosenPlugins]].flat();
  return blocksOf(config, kindOf(name)).flatMap(({ path }, index): Placed[] => {
    const one = all[index] as Chosen<Configured> | undefined;
    return one === undefined ? [] : [[path, one]];
  });
}

/** Kinds that supervised training uses, or whose whole block is reported. */
const notJudging = new Set<KindName>(['rewards', 'trackers', 'taskGenerators']);

function idleInSupervised(name: KindName, [path, one]: Placed): IdleSetting[] {
  if (name === 'tools')
    return setOf(
      path,
      one,
      'supervised training shows the tools in the prompt but does not call them',
    ).filter((setting) => !shapesPrompt(one as Chosen<ToolSpec>, setting.path.split('.')[2] ?? ''));
  if (kindOf(name).needs !== 'all' || notJudging.has(name)) return [];
  return setOf(path, one, 'supervised training plays no episodes');
}

/** Settings of a loss that only affect off-policy samples. */
function offPolicySettings(
  path: string,
  { entry: { spec }, settings }: Chosen<Configured>,
): IdleSetting[] {
  const { properties = {} }: ObjectSchema = spec.settings ?? {};
  return Object.entries(properties)
    .filter(([, { idleOnPolicy }]) => idleOnPolicy === true)
    .flatMap(([key, schema]) =>
      changed(
        { path: `${path}.${key}`, schema, value: settings[key] },
        'algorithm.epochs and algorithm.updatesPerBatch are 1, so every optimiser step is on-policy: the probability ratio is 1 and never clipped',
      ),
    );
}

/** A plugin's spec as far as its settings go. */
interface Configured {
  name: string;
  settings?: object;
}

/** A setting's schema, and the other settings on which its effect depends. */
interface SettingSchema extends ObjectSchema {
  actsWith?: Readonly<Record<string, unknown>>;
  idleWith?: Readonly<Record<string, unknown>>;
  idleOnPolicy?: boolean;
}

interface Part {
  path: string;
  schema: SettingSchema | undefined;
  value: unknown;
}

/** Settings of a block, and of its inner blocks, that have no effect because of another setting in the block. */
function overruled({ path, schema, value }: Part): IdleSetting[] {
  if (!isRecord(value)) return [];
  return Object.entries(schema?.properties ?? {}).flatMap(
    ([key, part]: [string, SettingSchema]) => {
      const below = { path: `${path}.${key}`, schema: part, value: value[key] };
      const by = Object.keys(value).find(
        (other) =>
          (Object.hasOwn(part.actsWith ?? {}, other) && value[other] !== part.actsWith?.[other]) ||
          (Object.hasOwn(part.idleWith ?? {}, other) && value[other] === part.idleWith?.[other]),
      );
      if (by === undefined) return overruled(below);
      return changed(below, `${path}.${by} is ${showValue(value[by])}`);
    },
  );
}

/** A plugin's own settings that are not the defaults. */
const setOf = (
  path: string,
  { entry: { spec }, settings }: Chosen<Configured>,
  why: string,
): IdleSetting[] =>
  spec.settings === undefined ? [] : changed({ path, schema: spec.settings, value: settings }, why);

/** Whether a tool would look different to the model, or be invalid, without one of its settings. */
function shapesPrompt({ entry: { spec }, settings }: Chosen<ToolSpec>, key: string): boolean {
  const { properties = {}, required = [] }: ObjectSchema = spec.settings ?? {};
  const usual = properties[key]?.default;
  if (usual === undefined && required.includes(key)) return true;
  if (spec.configure === undefined) return false;
  const { [key]: _without, ...others } = settings;
  try {
    const face = spec.configure(usual === undefined ? others : { ...others, [key]: usual });
    return shown({ ...spec, ...face }) !== shown(spec);
  } catch {
    return true;
  }
}

interface ObjectSchema {
  properties?: Readonly<Record<string, SettingSchema>>;
  default?: unknown;
  required?: readonly string[];
}

/** What the model is shown of a tool. */
const shown = ({ name, description, parameters }: ToolSpec): string =>
  JSON.stringify({ name, description, parameters });
