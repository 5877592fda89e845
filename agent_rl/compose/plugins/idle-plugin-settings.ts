import { changed, type Config, type IdleSetting } from '../../config/index.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { Chosen, ChosenPlugins } from './choose-plugins.ts';

/** Settings of plugins that cannot act in a run that trains: in supervised training nothing is played or called. */
export function idlePluginSettings(
  { train }: Pick<Config, 'train'>,
  { environment, tools }: Pick<ChosenPlugins, 'environment' | 'tools'>,
): IdleSetting[] {
  if (train.mode !== 'sft') return [];
  return [
    ...setOf('environment', environment, 'supervised training plays no episodes'),
    ...tools.flatMap((tool, index) =>
      setOf(
        `tools.${index}`,
        tool,
        'supervised training shows the tools in the prompt and calls none',
      ).filter(({ path }) => !shapesPrompt(tool, path.split('.')[2] ?? '')),
    ),
  ];
}

/** A plugin's own settings that are not the defaults. */
const setOf = (
  path: string,
  { entry, settings }: Chosen<{ name: string; settings?: object }>,
  why: string,
): IdleSetting[] => changed({ path, schema: entry.spec.settings, value: settings }, why);

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
  properties?: Readonly<Record<string, { default?: unknown }>>;
  required?: readonly string[];
}

/** What the model is shown of a tool. */
const shown = ({ name, description, parameters }: ToolSpec): string =>
  JSON.stringify({ name, description, parameters });
