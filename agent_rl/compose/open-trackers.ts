import type { Tracker, TrackerFunction } from '../core/plugins/tracker.ts';
import { RunTrackers } from '../runs/trackers/run-trackers.ts';
import type { QueuedTracker } from '../runs/trackers/tracker-queue.ts';
import type { ChosenTracker } from './plugins/choose-plugins.ts';
import { construct, hasMethod, runContainer } from './plugins/container.ts';

/**
 * Makes the trackers that a config names. They are given their settings and nothing else.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED`
 */
export const openTrackers = (trackers: readonly ChosenTracker[]): RunTrackers =>
  new RunTrackers(trackers.map(queuedTracker));

function queuedTracker({ entry, settings, limits }: ChosenTracker): QueuedTracker {
  const { name } = entry.spec;
  const { plugin } = entry;
  return { name, ...limits, make: () => trackerOf({ name, plugin, settings }) };
}

/** A tracker, whether it was marked as a function or as a class with `track`. */
function trackerOf(construction: { name: string; plugin: unknown; settings: unknown }): Tracker {
  const { plugin, settings } = construction;
  if (hasMethod(plugin, 'track')) return construct<Tracker>(runContainer([]), construction);
  const track = plugin as TrackerFunction;
  return { track: (event, signal) => track(event, settings, signal) };
}
