import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The settings of the run that a checkpoint is of, or of a run folder; `undefined` for a model that no run made. */
export function runFileOf(checkpoint: string): string | undefined {
  const whole = resolve(checkpoint);
  // A run holds `checkpoints/step-40`.
  return [whole, dirname(dirname(whole))]
    .map((folder) => join(folder, 'config.yaml'))
    .find((file) => existsSync(file));
}
