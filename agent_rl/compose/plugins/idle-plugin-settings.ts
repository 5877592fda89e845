import { changed, type Config, type IdleSetting } from '../../config/index.ts';
import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { Chosen, ChosenPlugins } from './choose-plugins.ts';

/** Settings of plugins that cannot act in a run that trains: in supervised training nothing is played or called. */
export function idlePluginSettings(
  { train }: Pick<Config, 'train'>,
  chosen: Pick<ChosenPlugins, 'environment' | 'tools' | 'rewards' | 'rewardManager'>,
): IdleSetting[] {
  const { environment, tools, rewards, rewardManager } = chosen;
  if (train.mode === 'rl') {
    const all = [
      ['environment', environment] as const,
      ...tools.map((tool, index) => [`tools.${index}`, tool] as const),
      ...rewards.map((reward, index) => [`rewards.${index}`, reward] as const),
      ['rewardManager', rewardManager] as const,
    ];
    return all.flatMap(([path, { entry, settings }]: readonly [string, Chosen<Configured>]) =>
      overruled({ path, schema: entry.spec.settings, value: settings }),
    );
  }
  return [
    ...setOf('environment', environment, 'supervised training plays no episodes'),
    ...setOf('rewardManager', rewardManager, 'supervised training plays no episodes'),
    ...tools.flatMap((tool, index) =>
      setOf(
        `tools.${index}`,
        tool,
        'supervised training shows the tools in the prompt and calls none',
      ).filter(({ path }) => !shapesPrompt(tool, path.split('.')[2] ?? '')),
    ),
  ];
}

/** A plugin's spec as far as its settings go. */
interface Configured {
  name: string;
  settings?: object;
}

/** What a schema says of a setting, and of others that leave it nothing to do. */
interface SettingSchema extends ObjectSchema {
  actsWith?: Readonly<Record<string, unknown>>;
  idleWith?: Readonly<Record<string, unknown>>;
}

interface Part {
  path: string;
  schema: SettingSchema | undefined;
  value: unknown;
}

/** The settings of a block that another one in it leaves nothing to do, those of inner blocks too. */
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

/** Whether a tool would look otherwise to the model, or could not be there, without one of its settings. */
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
