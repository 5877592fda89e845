import { type Config, runLength } from '../../config/index.ts';

/** How a run that is not at its planned end is continued; `undefined` when it is there. */
export function howToContinue(
  config: Config,
  folder: string,
  { interrupted }: { interrupted: boolean },
): string | undefined {
  const { last, planned } = runLength(config);
  if (interrupted) return `Interrupted. Continue with --resume ${folder}`;
  if (last === planned) return undefined;
  return `Ended after ${last} of ${planned} iterations. Continue with --resume ${folder} --max-iterations ${planned}`;
}
