import { changed, type Config, environmentBlocks, type IdleSetting } from '../../config/index.ts';
import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { Chosen, ChosenPlugins } from './choose-plugins.ts';

/** Settings of plugins that cannot act in a run that trains: in supervised training nothing is played or called. */
export function idlePluginSettings(
  config: Config,
  chosen: Pick<
    ChosenPlugins,
    | 'environments'
    | 'tools'
    | 'rewards'
    | 'rewardManager'
    | 'trackers'
    | 'taskGenerators'
    | PartName
  >,
): IdleSetting[] {
  const { environments, tools, rewards, rewardManager } = chosen;
  const { algorithm, train } = config;
  const paths = environmentBlocks(config).map(({ path }) => path);
  const worlds = environments.map((one, index) => [paths[index] ?? '', one] as const);
  const ofAlgorithm = partNames.map((name) => [`algorithm.${name}`, chosen[name]] as const);
  if (train.mode === 'rl') {
    const all = [
      ...worlds,
      ...tools.map((tool, index) => [`tools.${index}`, tool] as const),
      ...rewards.map((reward, index) => [`rewards.${index}`, reward] as const),
      ['rewardManager', rewardManager] as const,
      ...chosen.trackers.map((tracker, index) => [`trackers.${index}`, tracker] as const),
      ...chosen.taskGenerators.flatMap((one, index) =>
        one === undefined ? [] : [[`datasets.${index}.generator`, one] as const],
      ),
      ...ofAlgorithm,
    ];
    return [
      ...all.flatMap(([path, { entry, settings }]: readonly [string, Chosen<Configured>]) =>
        overruled({ path, schema: entry.spec.settings, value: settings }),
      ),
      ...(algorithm.epochs * algorithm.updatesPerBatch === 1
        ? offPolicySettings('algorithm.loss', chosen.loss)
        : []),
    ];
  }
  return [
    ...worlds.flatMap(([path, one]) => setOf(path, one, 'supervised training plays no episodes')),
    ...setOf('rewardManager', rewardManager, 'supervised training plays no episodes'),
    ...ofAlgorithm.flatMap(([path, part]: readonly [string, Chosen<Configured>]) =>
      setOf(path, part, 'supervised training plays no episodes'),
    ),
    ...tools.flatMap((tool, index) =>
      setOf(
        `tools.${index}`,
        tool,
        'supervised training shows the tools in the prompt and calls none',
      ).filter(({ path }) => !shapesPrompt(tool, path.split('.')[2] ?? '')),
    ),
  ];
}

const partNames = ['advantage', 'loss', 'correction', 'selection'] as const;
type PartName = (typeof partNames)[number];

/** Settings of a loss that act only on what older weights sampled. */
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
        'with algorithm.epochs: 1 and algorithm.updatesPerBatch: 1 each collection is one optimiser step, made with the weights that sampled it, so that the probability ratio is 1 and never clipped',
      ),
    );
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
  idleOnPolicy?: boolean;
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
