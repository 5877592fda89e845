import { runWithEpisodes } from '../../runs/episodes/read-episodes.ts';
import { eventsInOrder, type JournalQuery } from '../../runs/journal/events-in-order.ts';
import type { RunFolder } from '../../runs/run-folder.ts';
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
  const found = await divergenceOf([a, b].map(runWithEpisodes));
  print(divergenceText(found, ['A', 'B']));
  return { ...found };
}

/** Where the journals of two runs first differ. */
export async function divergenceOf(
  folders: readonly Pick<RunFolder, 'journal'>[],
  file?: JournalQuery['file'],
): Promise<Divergences> {
  const unreadable = new Unreadable();
  const damaged = (problem: string) => unreadable.add(problem);
  const [one, other] = folders.map(({ journal }) => eventsInOrder(journal, { file, damaged })) as [
    ReturnType<typeof eventsInOrder>,
    ReturnType<typeof eventsInOrder>,
  ];
  return { ...(await firstDivergence(one, other)), unreadable: unreadable.first };
}

interface Divergences {
  /** Iterations and evaluations that are the same in both, and their events. */
  batches: number;
  events: number;
  first?: Divergence;
  unreadable: readonly string[];
}

/** What was compared, and where two sides differ. */
export function divergenceText(
  { batches, events, first, unreadable }: Divergences,
  [a, b]: readonly [string, string],
): string {
  const notes = unreadable.map((problem) => `\nNot read: ${problem}`).join('');
  const same = `${countText(events, 'event')} of ${countText(batches, 'iteration or evaluation', 'iterations and evaluations')} are identical`;
  if (first === undefined) return `${same}; nothing differs.${notes}`;
  return [
    `${same}. First difference: ${first.event}`,
    `  ${first.at}`,
    `    ${a} ${value(first.a)}`,
    `    ${b} ${value(first.b)}`,
  ]
    .join('\n')
    .concat(notes);
}

const mostShown = 400;

const value = (of: unknown): string =>
  visibleControls(JSON.stringify(of) ?? 'absent').slice(0, mostShown);
