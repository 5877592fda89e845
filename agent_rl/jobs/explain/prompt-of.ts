import { builtinPlugins } from '../../compose/plugins/builtin-plugins.ts';
import { RunSettings } from '../../runs/query/run-settings.ts';

/**
 * Where the user writes the instructions of the policy, in the words of a sentence. A system prompt is a setting of some
 * environments; of one of the user's own, its code says.
 */
export function promptOf(config: object): string {
  const settings = new RunSettings({ ...config });
  const type = settings.at('environment.type');
  const known = builtinPlugins()
    .environments.entries()
    .find(({ spec }) => spec.name === type);
  return known !== undefined && hasSetting(known.spec, 'systemPrompt')
    ? `in the prompt, ${settings.now('environment.systemPrompt')}`
    : 'in the prompt of the tasks';
}

/** Whether a plugin declares a setting of this name. */
const hasSetting = ({ settings }: { settings?: { properties?: object } }, name: string): boolean =>
  Object.hasOwn(settings?.properties ?? {}, name);
