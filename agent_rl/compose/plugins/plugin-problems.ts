import { type Config, nearestName } from '../../config/index.ts';
import type { Registry } from '../../core/plugins/plugin.ts';
import { byLogProbability } from '../../trainer/strategies/choose-attempt.ts';
import { environmentScore, invalidCallsComponent } from '../../rollout/combine-rewards.ts';

/** A problem and its setting. */
export interface SettingProblem {
  /** Dotted. */
  path: string;
  text: string;
}

/** An environment as far as it was found. */
interface Named {
  name: string;
  /** Absent when it is not known. */
  entry: { spec: { taskFormat: string; external?: boolean | undefined } } | undefined;
}

/** Environments with the same name, and folders of tasks without an environment. */
export function environmentProblems(
  environments: readonly Named[],
  { datasets, train }: Partial<Pick<Config, 'datasets' | 'train'>>,
): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const names = environments.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const first = names.indexOf(name);
    if (first === index) continue;
    const text = `"${name}" is also the name of environment.${first}. Add name: NAME to one of the two environments.`;
    problems.push({ path: `environment.${index}`, text });
  }
  const known = `Environments: ${names.join(', ')}.`;
  const formats = new Set(environments.map(({ entry }) => entry?.spec.taskFormat));
  const folders = Array.isArray(datasets) ? (datasets as Config['datasets']) : [];
  for (const [index, { environment, generator, format }] of folders.entries()) {
    if (environment !== undefined && !names.includes(environment)) {
      const text = `the run has no environment "${environment}". ${known}`;
      problems.push({ path: `datasets.${index}.environment`, text });
    }
    // Supervised training reads conversations, and no tasks.
    const reads = train?.mode !== 'sft';
    const unread = generator === undefined && format === undefined && formats.size > 1;
    if (reads && environment === undefined && unread) {
      const text = `needs an environment, because the environments of this run read different task formats. Add environment: NAME. ${known}`;
      problems.push({ path: `datasets.${index}`, text });
    }
  }
  return problems;
}

/** Tools that environments need and a run lacks. @param tools their types or names */
export const missingTools = (
  environments: readonly { name: string; requires?: readonly string[] }[],
  tools: readonly string[],
): SettingProblem[] =>
  environments.flatMap(({ name: environment, requires = [] }) =>
    requires
      .filter((name) => !tools.includes(name))
      .map((name) => ({
        path: 'tools',
        text: `environment ${environment} needs the tool "${name}". Add "- type: ${name}".`,
      })),
  );

/** Tools of a run whose agents are all external and bring their own tools. */
export function uncalledTools(
  environments: readonly Named[],
  { length }: readonly unknown[],
): SettingProblem[] {
  if (length === 0 || !environments.every(({ entry }) => entry?.spec.external === true)) return [];
  const names = environments.map(({ name }) => name).join(', ');
  const text = `the agent of ${names} is external and brings its own tools. Remove the setting tools.`;
  return [{ path: 'tools', text }];
}

const reservedRewardNames: ReadonlySet<string> = new Set([environmentScore, invalidCallsComponent]);

/**
 * Rewards with a duplicate or reserved name, or with an unknown tool.
 *
 * @param tools names of the run's tools; undefined if not all are known
 */
export function rewardProblems(
  rewards: readonly { name: string; tool?: string | undefined }[],
  tools: readonly string[] | undefined,
): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const names = rewards.map(({ name }) => name);
  for (const [index, { name, tool }] of rewards.entries()) {
    const path = `rewards.${index}`;
    const first = names.indexOf(name);
    if (first !== index)
      problems.push({
        path,
        text: `"${name}" is also the name of rewards.${first}. Add name: NAME to one of the two rewards.`,
      });
    if (reservedRewardNames.has(name)) {
      const text = `"${name}" is a reserved name. Give this reward another name.`;
      problems.push({ path, text });
    }
    if (tool !== undefined && tools?.includes(tool) === false) {
      const text = `the run has no tool "${tool}". Tools: ${tools.join(', ') || 'none'}.`;
      problems.push({ path: `${path}.tool`, text });
    }
  }
  return problems;
}

/** An environment, as a strategy sees it. */
interface Answering {
  name: string;
  entry: { spec: { answers?: boolean } } | undefined;
}

/**
 * Strategies that cannot choose among attempts in this run, and selectors that see the expected answer: they would be
 * oracles, which pass@k measures.
 */
export function strategyProblems(
  { eval: { strategy, selector }, train }: Pick<Config, 'eval' | 'train'>,
  environments: readonly Answering[],
  rewards: readonly { name: string; blind: boolean }[],
): SettingProblem[] {
  // Supervised training evaluates nothing.
  if (train.mode === 'sft') return [];
  const silent = environments.find(({ entry }) => entry !== undefined && !entry.spec.answers);
  if (strategy === 'majority' && silent !== undefined) {
    const text = `majority compares answers, but environment ${silent.name} does not report them. Use best-of-n, or an environment whose spec has answers: true, such as question, search or workspace.`;
    return [{ path: 'eval.strategy', text }];
  }
  if (strategy !== 'best-of-n' || selector === byLogProbability) return [];
  const named = rewards.find(({ name }) => name === selector);
  if (named?.blind === true) return [];
  const allowed = [
    byLogProbability,
    ...rewards.filter(({ blind }) => blind).map(({ name }) => name),
  ].join(', ');
  const sees = named !== undefined || selector === environmentScore;
  const text = sees
    ? `${JSON.stringify(selector)} sees the expected answer, so it must not choose which attempt counts. Use one of: ${allowed}.`
    : `the run has no reward ${JSON.stringify(selector)}. Use one of: ${allowed}.`;
  return [{ path: 'eval.selector', text }];
}

/** The problem of an unknown plugin name. */
export function unknownType<Spec extends { name: string }>(
  registry: Registry<Spec>,
  type: string,
): string {
  const near = nearestName(type, registry.names());
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  const known = registry.names().join(', ') || 'none';
  return `unknown ${registry.kind} "${type}".${hint} Known: ${known}. To use your own, add its file or package under plugins: or with --plugin.`;
}
