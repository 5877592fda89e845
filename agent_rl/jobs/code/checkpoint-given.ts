import { existsSync } from 'node:fs';

import { AgentRlError } from '../../core/errors.ts';
import { namedOrShipped, placesOf } from '../../core/package-root.ts';
import { showValue } from '../../core/show-value.ts';
import { runFileOf } from '../../runs/run-folder.ts';

/**
 * Where a trained agent is that a program names, and the run file of its run; none for a model that no run made.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` where nothing is there
 */
export function checkpointGiven(
  caller: string,
  checkpoint: unknown,
): { path: string; base: string | undefined } {
  const allowed = 'a run folder, a checkpoint or a model folder';
  if (typeof checkpoint !== 'string')
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${caller}: expected the path of ${allowed}, got ${showValue(checkpoint, 60)}.`,
    );
  const places = placesOf(checkpoint);
  if (!places.some((place) => existsSync(place)))
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${caller}: there is no ${places[0]}. Give ${allowed}.`,
    );
  return { path: namedOrShipped(checkpoint), base: runFileOf(checkpoint) };
}
