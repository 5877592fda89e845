import { AgentRlError } from '../../core/errors.ts';
import { changedSettings } from '../../runs/flat-settings.ts';
import { type RecordedRun, recordedRun } from '../../runs/query/recorded-run.ts';
import type { JobResult } from '../job.ts';
import { divergenceOf, divergenceText } from '../replay/diff-runs.ts';
import { type Costs, costLines, differenceLines, settingsLines, shown } from './comparison-text.ts';
import { heldOutEvaluations, taskGroups } from './held-out-attempts.ts';
import {
  evaluationPairs,
  type HeldOutDifference,
  heldOutDifference,
} from './held-out-difference.ts';

export interface CompareOptions {
  /** Folders of runs: differences are B - A. */
  a: string;
  b: string;
  print: (text: string) => void;
}

/**
 * Compares two runs: success at the same held-out tasks, in pairs, the first event in which training differs, settings and
 * costs.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` for a folder that is no run's, `CONFIG_INVALID` when they share no task
 */
export async function compareRuns({ a, b, print }: CompareOptions): Promise<JobResult> {
  const [one, other] = [recordedRun(a), recordedRun(b)];
  const { differences, slicesKnown } = await heldOut(one, other);
  const parting = await divergenceOf([one.folder, other.folder], 'train');
  const settings = changedSettings(one.config, other.config);
  if (differences.length === 0 && parting.batches === 0 && parting.first === undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `${one.folder.path} and ${other.folder.path} cannot be compared: no held-out task was attempted by both runs before training, or by both after training, and at least one of them did not train. Compare runs on the same tasks. ${settings.length === 0 ? 'Their settings are the same.' : `Settings that differ: ${settings.slice(0, 5).join('; ')}${settings.length > 5 ? `; and ${settings.length - 5} more` : ''}.`}`,
    );
  const costs = [one, other].map(costsOf) as [Costs, Costs];
  print(
    shown([
      `A: ${one.folder.path}`,
      `B: ${other.folder.path}`,
      ...(differences.length === 0
        ? [
            'The held-out results cannot be compared: the two runs have no held-out task in common, neither before nor after training.',
          ]
        : differences.flatMap(differenceLines)),
      ...(slicesKnown || differences.length === 0 ? [] : [unknownSlices]),
      `Training: ${divergenceText(parting, ['A', 'B'])}`,
      ...costLines(...costs),
      ...settingsLines(settings),
    ]),
  );
  return { settings, heldOut: differences, parting, costs: { a: costs[0], b: costs[1] } };
}

const unknownSlices =
  '  Slices are unknown, because no checkpoint contains an evaluation before training. The total therefore includes the tasks of slices.';

async function heldOut(
  one: RecordedRun,
  other: RecordedRun,
): Promise<{ differences: HeldOutDifference[]; slicesKnown: boolean }> {
  const groups = new Map([...taskGroups(other.folder), ...taskGroups(one.folder)]);
  const seed = one.settings.number('run.seed', 0);
  const pairs = evaluationPairs(
    await heldOutEvaluations(one.folder),
    await heldOutEvaluations(other.folder),
  );
  return {
    differences: pairs.flatMap(
      ([before, after]) => heldOutDifference(before, after, { groups, seed }) ?? [],
    ),
    slicesKnown: groups.size > 0,
  };
}

const costsOf = ({ summary }: RecordedRun): Costs => ({
  wallSeconds: summary?.wallSeconds ?? null,
  cpuSeconds: summary?.cpuSeconds ?? null,
});
