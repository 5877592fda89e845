import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { ReportedEvent, TrackedRun } from '#agent_rl/core/run-event.ts';

/** The start of a run in a folder of its own below another. */
export function startedIn(
  folder: string,
  name: string,
  more: Partial<TrackedRun> = {},
): ReportedEvent {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const config = { run: { seed: 1 } };
  return { type: 'start', run: { name, folder: own, mode: 'rl', config, resumed: false, ...more } };
}

export const iterated = (iteration: number, metrics: Record<string, number>): ReportedEvent => ({
  type: 'iteration',
  iteration,
  metrics,
});
