import { configInvalid, type LoadedConfig, placeOf, type Problem } from '../../config/index.ts';
import { messageOf } from '../../core/errors.ts';
import { type FieldRule, fieldRules } from '../../core/plugins/plugin-rules.ts';
import type { EnvironmentSpec } from '../../core/plugins/environment.ts';
import type { FoundTool, ToolSpec } from '../../core/plugins/tool.ts';
import { showValue } from '../../core/show-value.ts';
import type { Chosen, ChosenPlugins, ChosenTool } from './choose-plugins.ts';
import { missingTools, rewardProblems } from './plugin-problems.ts';

/**
 * The plugins of a run with the tools that its tool sets hold.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a set that cannot be used, and a reward on a tool that the run lacks
 */
export async function withToolSets(
  chosen: ChosenPlugins,
  { places }: Pick<LoadedConfig, 'places'>,
  warn: (text: string) => void,
): Promise<ChosenPlugins> {
  const own = chosen.environments.filter(({ entry }) => entry.spec.find);
  if (own.length === 0 && !chosen.tools.some(({ entry }) => entry.spec.find)) return chosen;
  const problems: Problem[] = [];
  const report = (path: string, text: string): void => {
    const { value: location } = placeOf(places, `/${path.replaceAll('.', '/')}`);
    problems.push({ location, path, text });
  };
  const findIn = async (one: Chosen<ToolSpec | EnvironmentSpec>, path: string) => {
    try {
      const found = await one.entry.spec.find!(one.settings, { environment: process.env, warn });
      for (const tool of found) checkFound(tool);
      return found;
    } catch (thrown) {
      report(path, messageOf(thrown));
      return [];
    }
  };
  const all = await Promise.all([
    ...chosen.tools.map(async (one, index) =>
      one.entry.spec.find === undefined ? [one] : toolsOf(one, await findIn(one, `tools.${index}`)),
    ),
    ...own.map(async (one) => toolsOfEnvironment(one, await findIn(one, 'environment'))),
  ]);
  const tools = named(all.flat());
  if (own.length > 0 && chosen.environments.length > 1)
    report(
      'environment',
      `${own[0]?.name} brings tools of its own, so it must be the only environment of a run.`,
    );
  const names = tools.map(({ entry }) => entry.spec.name);
  for (const [at, name] of names.entries())
    if (names.indexOf(name) !== at)
      report(
        'tools',
        `two tools are named "${name}". Give one of the tool sets another name, or leave one of the tools out.`,
      );
  if (problems.length === 0)
    for (const { path, text } of [
      ...rewardProblems(chosen.rewards, names),
      ...missingTools(
        chosen.environments.map(({ entry }) => entry.spec),
        names,
      ),
    ])
      report(path, text);
  if (problems.length > 0) throw configInvalid(problems);
  return { ...chosen, tools };
}

/** @throws Error for a tool that no run could have */
function checkFound({ of, ...face }: FoundTool): void {
  for (const [field, rule] of [
    ['name', fieldRules.toolName],
    ['description', fieldRules.text],
    ['parameters', fieldRules.parameters],
  ] as const) {
    const value: unknown = face[field];
    const problem = rule.fits(value) ? (rule as FieldRule).problem?.(value) : undefined;
    if (rule.fits(value) && problem === undefined) continue;
    throw new Error(
      `the tool "${of}" cannot be used: its ${field} ${problem ?? `is ${showValue(value)}; allowed: ${rule.allowed}`}. Leave it out with allow.`,
    );
  }
}

const toolsOf = (set: Chosen<ToolSpec>, found: readonly FoundTool[]): ChosenTool[] =>
  found.map(({ of, ...face }) => {
    const { entry, settings } = set;
    const { find: _, configure: __, ...spec } = entry.spec;
    return {
      entry: { ...entry, spec: { ...spec, ...face } },
      settings,
      set: { name: spec.name, of },
    };
  });

const toolsOfEnvironment = (
  { entry, settings }: Chosen<EnvironmentSpec>,
  found: readonly FoundTool[],
): ChosenTool[] =>
  found.map(({ of, ...spec }) => ({
    entry: { ...entry, spec },
    settings,
    set: { name: entry.spec.name, of, isEnvironment: true },
  }));

/** A set's tool bears the set's name too where another tool of the run has the same. */
function named(tools: readonly ChosenTool[]): ChosenTool[] {
  const isShared = (name: string): boolean =>
    tools.filter(({ entry }) => entry.spec.name === name).length > 1;
  return tools.map((one) => {
    const { set, entry } = one;
    const { name } = entry.spec;
    if (set === undefined || !isShared(name)) return one;
    return { ...one, entry: { ...entry, spec: { ...entry.spec, name: `${set.name}_${name}` } } };
  });
}
