import { runWithEpisodes } from '../../runs/episodes/read-episodes.ts';
import { eventsInOrder } from '../../runs/journal/events-in-order.ts';
import { type Divergence, firstDivergence } from '../../runs/journal/first-divergence.ts';
import { Unreadable } from '../../runs/episodes/read-lines.ts';
import { countText, visibleControls } from '../../telemetry/index.ts';
import type { JobResult } from '../job.ts';

export interface DiffOptions {
  /** Folders of runs. */
  a: string;
  b: string;
  print: (text: string) => void;
}

/**
 * Compares the journals of two runs event by event, and names the first that differs.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` for a folder without a journal
 */
export async function diffRuns({ a, b, print }: DiffOptions): Promise<JobResult> {
  const unreadable = new Unreadable();
  const [one, other] = [a, b].map((run) =>
    eventsInOrder(runWithEpisodes(run).journal, (problem) => unreadable.add(problem)),
  ) as [ReturnType<typeof eventsInOrder>, ReturnType<typeof eventsInOrder>];
  const found = await firstDivergence(one, other);
  print(divergenceText(found, ['A', 'B']));
  for (const problem of unreadable.first) print(`Not read: ${problem}`);
  return { ...found, unreadable: unreadable.count };
}

/** What was compared, and where two sides differ. */
export function divergenceText(
  { batches, events, first }: { batches: number; events: number; first?: Divergence },
  [a, b]: readonly [string, string],
): string {
  const same = `${countText(events, 'event')} of ${countText(batches, 'iteration or evaluation', 'iterations and evaluations')} are identical`;
  if (first === undefined) return `${same}; nothing differs.`;
  const value = (of: unknown) =>
    visibleControls(JSON.stringify(of) ?? 'absent').slice(0, mostShown);
  return [
    `${same}. First difference: ${first.event}`,
    `  ${first.at}`,
    `    ${a} ${value(first.a)}`,
    `    ${b} ${value(first.b)}`,
  ].join('\n');
}

const mostShown = 400;
