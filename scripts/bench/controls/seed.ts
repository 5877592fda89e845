import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { prepareRun, type PreparedRun } from '../../../agent_rl/compose/prepare-run.ts';
import { writeFileAtomic } from '../../../agent_rl/telemetry/index.ts';

/** What the controls of one seed are made with. */
export interface SeedOptions {
  seed: number;
  config: string;
  sftConfig: string;
  /** `a.b=c`, over the config. */
  sets: readonly string[];
  /** At each task before the run, for pass@k. */
  attempts: number;
  /** Folder of runs to read instead of repeating them. */
  runs: string;
  /** Where the parts of this seed are kept. */
  folder: string;
  signal: AbortSignal;
  print: (text: string) => void;
}

/** A run file with this seed and more settings over it. */
export const prepareSeed = (
  file: string,
  { seed, sets }: { seed: number; sets?: readonly string[] },
  settings: Readonly<Record<string, unknown>>,
): Promise<PreparedRun> =>
  prepareRun({
    file,
    ...(sets && { overrides: sets }),
    flags: Object.entries({ 'run.seed': seed, ...settings }).map(([key, value]) => ({
      source: 'bench:controls',
      path: key,
      value,
    })),
  });

/** A part of a seed's controls: read where it was made before, and else made and written. */
export async function readOnce<T>(
  { seed, folder, signal, print }: SeedOptions,
  name: string,
  make: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const file = path.join(folder, `${name}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T;
  print(`Seed ${seed}: ${name}`);
  const value = await make();
  signal.throwIfAborted();
  writeFileAtomic(file, `${JSON.stringify(value, null, 1)}\n`);
  return value;
}
