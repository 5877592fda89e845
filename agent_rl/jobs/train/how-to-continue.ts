import type { ResolvedRun } from '../../compose/resolve-run.ts';
import { isProgramPlugin } from '../../config/index.ts';
import { resumeCommand } from '../../runs/run-folder.ts';

/** How a run that is not at its planned end is continued; `undefined` when it is there. */
export function howToContinue(
  { config, length: { last, planned } }: Pick<ResolvedRun, 'config' | 'length'>,
  folder: string,
  { interrupted }: { interrupted: boolean },
): string | undefined {
  const ofProgram = config.plugins.some(isProgramPlugin);
  const how = (options: string, ...flags: string[]): string =>
    ofProgram
      ? `Call trainAgent again, with resume: '${folder}'${options}`
      : `Continue: ${resumeCommand(folder, ...flags)}`;
  if (interrupted) return `Interrupted. ${how('')}`;
  if (last === planned) return undefined;
  const onwards = how(
    `, overrides: { 'train.maxIterations': ${planned} }`,
    `--max-iterations ${planned}`,
  );
  return `Ended after ${last} of ${planned} iterations. ${onwards}`;
}

/** More iterations than that may have been meant to learn something. */
const mostOfTrial = 3;

/** Says of a run that is planned as a trial that it was one; `undefined` of others. */
export function tooShortToLearn({
  length: { planned },
}: Pick<ResolvedRun, 'length'>): string | undefined {
  if (planned > mostOfTrial) return undefined;
  return `This run only tests that everything works: ${planned === 1 ? '1 iteration is' : `${planned} iterations are`} too few to learn.`;
}
