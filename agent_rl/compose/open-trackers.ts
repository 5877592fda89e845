import type { Tracker } from '../core/plugins/tracker.ts';
import { RunTrackers } from '../runs/trackers/run-trackers.ts';
import type { QueuedTracker } from '../runs/trackers/tracker-queue.ts';
import type { ChosenTracker } from './plugins/choose-plugins.ts';
import { construct, runContainer } from './plugins/container.ts';

/**
 * Makes the trackers that a config names. They are given their settings and nothing else.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED`
 */
export const openTrackers = (trackers: readonly ChosenTracker[]): RunTrackers =>
  new RunTrackers(trackers.map(queuedTracker));

const queuedTracker = (chosen: ChosenTracker): QueuedTracker => ({
  name: chosen.entry.spec.name,
  ...chosen.limits,
  make: () => construct<Tracker>(runContainer(), chosen, 'track'),
});
