import type { Finding } from './run-attack.ts';

/** The findings of one backend run by one user. */
export interface SuiteReport {
  backend: string;
  identity: string;
  /** Findings by theme. */
  themes: Readonly<Record<string, readonly Finding[]>>;
  wallS: number;
}

const countsOf = (findings: readonly Finding[]): { passed: number; failed: number } => {
  const failed = findings.filter(({ problems }) => problems.length > 0).length;
  return { passed: findings.length - failed, failed };
};

export const totalOf = (reports: readonly SuiteReport[]): { passed: number; failed: number } =>
  countsOf(reports.flatMap(({ themes }) => Object.values(themes).flat()));

/** One line for each theme, and each attack that was not contained. */
export function reportText({ backend, identity, themes, wallS }: SuiteReport): string {
  const rows = Object.entries(themes).map(([theme, findings]) => {
    const { passed, failed } = countsOf(findings);
    return `  ${theme.padEnd(24)} ${String(passed).padStart(6)} ${String(failed).padStart(6)}`;
  });
  const problems = Object.values(themes)
    .flat()
    .filter((finding) => finding.problems.length > 0);
  return [
    `${backend} as ${identity}, ${wallS.toFixed(0)} s`,
    `  ${'theme'.padEnd(24)} passed failed`,
    ...rows,
    ...problems.map(problemText),
    '',
  ].join('\n');
}

const problemText = ({ attack, status, wallMs, problems, output }: Finding): string =>
  [
    `  FAILED ${attack} (${status}, ${wallMs} ms)`,
    ...problems.map((problem) => `    ${printable(problem)}`),
    ...(output ? [`    printed: ${printable(output)}`] : []),
  ].join('\n');

/** Escapes a program's output, which must not reach a terminal unchanged. */
const printable = (text: string): string => JSON.stringify(text).slice(1, -1).slice(0, 500);
