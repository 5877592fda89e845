import { type Config, nearestName } from '../../config/index.ts';
import type { Registry } from '../../core/plugins/plugin.ts';
import type { RewardManagerSpec } from '../../core/plugins/reward-manager.ts';
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
  { dataset, datasets, train }: Partial<Pick<Config, 'dataset' | 'datasets' | 'train'>>,
): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const names = environments.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const first = names.indexOf(name);
    if (first === index) continue;
    const text = `"${name}" is already environments.${first}. Give one of them a name.`;
    problems.push({ path: `environments.${index}`, text });
  }
  const known = `Environments: ${names.join(', ')}.`;
  const formats = new Set(environments.map(({ entry }) => entry?.spec.taskFormat));
  const folders = Array.isArray(datasets) ? (datasets as Config['datasets']) : [];
  for (const [index, { environment, generator, format = dataset?.format }] of folders.entries()) {
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
  tool?: string;
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
