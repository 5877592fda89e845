import { checkBlock } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { RegistryEntry } from '../../core/plugins/plugin.ts';
import type { ToolCallFormat, ToolCallFormatSpec } from '../../core/plugins/tool-call-format.ts';
import { templateSample } from '../../policies/examine-template.ts';
import type { LanguageModel } from '../../../model/text/language-model.ts';
import type { ChosenPlugins } from './choose-plugins.ts';
import { construct, type Construction, runContainer } from './container.ts';
import type { Plugins } from './kinds.ts';

/**
 * The format that the config names, or the one that the model's chat template uses.
 *
 * @throws AgentRlError `CONFIG_INVALID` when the template matches no known format or several, or when the run's tools
 * cannot be called in the format.
 */
export function openToolCallFormat({
  chosen,
  plugins,
  model,
}: {
  chosen: Pick<ChosenPlugins, 'tools' | 'toolCallFormat'> &
    Partial<Pick<ChosenPlugins, 'environments'>>;
  plugins: Plugins;
  model: LanguageModel;
}): ToolCallFormat {
  const tools = chosen.tools.map(({ entry }) => entry.spec);
  const hasTools =
    tools.length > 0 || chosen.environments?.some(({ entry }) => entry.spec.ownTools) === true;
  const { name, format } =
    chosen.toolCallFormat === undefined
      ? formatOfTemplate(plugins, model, hasTools)
      : made(chosen.toolCallFormat);
  const problem = format.problemWith?.(tools);
  if (problem === undefined) return format;
  throw invalid(`"${name}" cannot be used with the tools of this run: ${problem}`);
}

function formatOfTemplate(plugins: Plugins, model: LanguageModel, hasTools: boolean): Named {
  const known = plugins.toolCallFormats.entries().flatMap(withDefaults);
  const sample = templateSample(model, { thinking: false });
  const fitting = known.filter(({ format }) => format.fits(sample));
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  const plain = known.find(({ name }) => name === 'plain');
  // Without tools no format is needed.
  if (only === undefined && plain !== undefined && !hasTools) return plain;
  const names = plugins.toolCallFormats.names().join(', ');
  const found = fitting.map(({ name }) => name).join(' and ');
  throw invalid(
    only === undefined
      ? `is auto, but the model's chat template matches no known format. Set it to the format that the model was trained with: ${names}`
      : `is auto, but the model's chat template matches ${found}. Set it to one of ${names}`,
  );
}

interface Named {
  name: string;
  format: ToolCallFormat;
}

/** The format with default settings; undefined if it has required settings. */
function withDefaults(entry: RegistryEntry<ToolCallFormatSpec>): readonly Named[] {
  const { settings: schema } = entry.spec;
  if (schema === undefined) return [made({ entry, settings: {} })];
  const { value, problems } = checkBlock(schema, {}, { path: '', places: new Map() });
  if (problems.length > 0) return [];
  return [made({ entry, settings: value })];
}

const made = (one: Construction): Named => ({
  name: one.entry.spec.name,
  format: construct<ToolCallFormat>(runContainer(), one),
});

const invalid = (what: string): AgentRlError =>
  new AgentRlError('CONFIG_INVALID', `policy.toolCallFormat: ${what}.`);
