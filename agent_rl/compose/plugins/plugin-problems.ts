import { type Config, nearestName } from '../../config/index.ts';
import type { LossPluginSpec } from '../../core/algorithm/loss.ts';
import { builtInSource, type Registry, type RegistryEntry } from '../../core/plugins/plugin.ts';
import type { RewardManagerSpec } from '../../core/plugins/reward-manager.ts';
import { byLogProbability } from '../../trainer/strategies/choose-attempt.ts';
import { environmentScore, invalidCallsComponent } from '../../rollout/combine-rewards.ts';

/** Something wrong, and the setting that is. */
export interface SettingProblem {
  /** Dotted. */
  path: string;
  text: string;
}

/** An environment as far as it was found. */
interface Named {
  name: string;
  /** Absent when it is not known. */
  entry: { spec: { taskFormat: string } } | undefined;
}

/** Environments of one name, and folders of tasks that have no environment to be read for. */
export function environmentProblems(
  environments: readonly Named[],
  { datasets, train }: Partial<Pick<Config, 'datasets' | 'train'>>,
): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const names = environments.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const first = names.indexOf(name);
    if (first === index) continue;
    const text = `"${name}" is already environment.${first}. Give one of them a name.`;
    problems.push({ path: `environment.${index}`, text });
  }
  const known = `Environments: ${names.join(', ')}.`;
  const formats = new Set(environments.map(({ entry }) => entry?.spec.taskFormat));
  const folders = Array.isArray(datasets) ? (datasets as Config['datasets']) : [];
  for (const [index, { environment, generator, format }] of folders.entries()) {
    if (environment !== undefined && !names.includes(environment)) {
      const text = `no environment of this run is named "${environment}". ${known}`;
      problems.push({ path: `datasets.${index}.environment`, text });
    }
    // Supervised training reads conversations, and no tasks.
    const reads = train?.mode !== 'sft';
    const unread = generator === undefined && format === undefined && formats.size > 1;
    if (reads && environment === undefined && unread) {
      const text = `names no environment, and those of this run read tasks of different formats. Add environment: NAME. ${known}`;
      problems.push({ path: `datasets.${index}`, text });
    }
  }
  return problems;
}

const reservedRewardNames: ReadonlySet<string> = new Set([environmentScore, invalidCallsComponent]);

/** A reward as far as the run file goes. */
interface NamedReward {
  name: string;
  weight: number;
  tool?: string | undefined;
}

/**
 * Rewards whose name is not their own, or whose tool is not there.
 *
 * @param tools names of the run's tools; undefined where not all are known
 */
export function rewardProblems(
  rewards: readonly Omit<NamedReward, 'weight'>[],
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
        text: `"${name}" is already rewards.${first}. Give one of them a name.`,
      });
    if (reservedRewardNames.has(name)) {
      const text = `"${name}" is a part of every reward. Give this one another name.`;
      problems.push({ path, text });
    }
    if (tool !== undefined && tools?.includes(tool) === false) {
      const text = `no tool of this run is named "${tool}". Tools: ${tools.join(', ') || 'none'}.`;
      problems.push({ path: `${path}.tool`, text });
    }
  }
  return problems;
}

/** A reward manager that has nothing to do with the rewards of a run, or with one's weight. */
export function rewardManagerProblems(
  manager: RewardManagerSpec | undefined,
  rewards: readonly Pick<NamedReward, 'weight'>[],
  { environmentWeight }: Pick<Config['algorithm'], 'environmentWeight'>,
): SettingProblem[] {
  if (manager === undefined) return [];
  const { name, needsSeveral = false, ignoresWeights = false } = manager;
  const path = 'rewardManager.type';
  const problems: SettingProblem[] = [];
  if (needsSeveral && rewards.length === 0) {
    const text = `${name} combines several rewards, and the environment's own is the only one. List others under rewards, or use weighted.`;
    problems.push({ path, text });
  }
  const idle = [environmentWeight, ...rewards.map(({ weight }) => weight)].find(
    (weight) => weight !== 0 && weight !== 1,
  );
  if (ignoresWeights && idle !== undefined) {
    const text = `${name} computes the weights itself, so weight ${idle} would have no effect. Use 1, or 0 for a reward that is only logged, or rewardManager.type weighted or normalised.`;
    problems.push({ path, text });
  }
  return problems;
}

/** A loss of a plugin's is imported again by the engine's thread. */
export function lossProblems(loss: RegistryEntry<LossPluginSpec> | undefined): SettingProblem[] {
  if (loss === undefined || loss.source === builtInSource || loss.spec.module !== undefined)
    return [];
  const text = `the spec of the loss "${loss.spec.name}" from ${loss.source} has no module, and the engine's thread cannot find it. Add module: import.meta.url.`;
  return [{ path: 'algorithm.loss.type', text }];
}

/** An environment as far as its strategy goes. */
interface Answering {
  name: string;
  entry: { spec: { answers?: boolean } } | undefined;
}

/**
 * Strategies that cannot choose among attempts in this run, and selectors that would choose by what is right: those are
 * oracles and no strategies, and pass@k says what they would give.
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
    const text = `majority counts answers, and environment ${silent.name} does not say what an attempt answered. Use best-of-n, or an environment whose spec has answers: true, such as question, search and workspace.`;
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
    ? `${JSON.stringify(selector)} sees what is right: to choose by it is an oracle and no strategy, and pass@k says what it would give. Use one of: ${allowed}.`
    : `no reward of this run is named ${JSON.stringify(selector)}. Use one of: ${allowed}.`;
  return [{ path: 'eval.selector', text }];
}

/** That no plugin has the name. */
export function unknownType<Spec extends { name: string }>(
  registry: Registry<Spec>,
  type: string,
): string {
  const near = nearestName(type, registry.names());
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  const known = registry.names().join(', ') || 'none';
  return `no ${registry.kind} is named "${type}".${hint} Known: ${known}. To use your own, name its file or package under plugins: or with --plugin.`;
}
