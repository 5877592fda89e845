import { type Config, isProgramPlugin, runLength } from '../../config/index.ts';

/** How a run that is not at its planned end is continued; `undefined` when it is there. */
export function howToContinue(
  config: Config,
  folder: string,
  { interrupted }: { interrupted: boolean },
): string | undefined {
  const { last, planned } = runLength(config);
  const ofProgram = config.plugins.some(isProgramPlugin);
  const how = ofProgram
    ? `Call trainAgent again, with resume: '${folder}'`
    : `Continue with --resume ${folder}`;
  if (interrupted) return `Interrupted. ${how}`;
  if (last === planned) return undefined;
  const further = ofProgram
    ? `, overrides: { 'train.maxIterations': ${planned} }`
    : ` --max-iterations ${planned}`;
  return `Ended after ${last} of ${planned} iterations. ${how}${further}`;
}
