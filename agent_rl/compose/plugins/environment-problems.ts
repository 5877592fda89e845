import type { Config } from '../../config/index.ts';

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
  taskFormat: string | undefined;
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
  const formats = new Set(environments.map(({ taskFormat }) => taskFormat));
  const folders = Array.isArray(datasets) ? (datasets as Config['datasets']) : [];
  for (const [index, { environment, format = dataset?.format }] of folders.entries()) {
    if (environment !== undefined && !names.includes(environment)) {
      const text = `no environment of this run is named "${environment}". ${known}`;
      problems.push({ path: `datasets.${index}.environment`, text });
    }
    // Supervised training reads conversations, and no tasks.
    const reads = train?.mode !== 'sft';
    if (reads && environment === undefined && format === undefined && formats.size > 1) {
      const text = `names no environment, and those of this run read tasks of different formats. Add environment: NAME. ${known}`;
      problems.push({ path: `datasets.${index}`, text });
    }
  }
  return problems;
}
