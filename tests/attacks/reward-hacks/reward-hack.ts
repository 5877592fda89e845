import type { HackedTask, JudgedBy } from './hacked-tasks.ts';

/** A wrong program that tries to be judged right. It harms nothing, even where nothing confines it. */
export interface RewardHack {
  name: string;
  code: string;
  kind: JudgedBy | 'both';
  tests: HackedTask;
}

/** Makes hacks against a task, of programs by name. */
const judged =
  (kind: RewardHack['kind']) =>
  (tests: HackedTask, programs: Readonly<Record<string, string>>): RewardHack[] =>
    Object.entries(programs).map(([name, code]) => ({ name, code, kind, tests }));

export const byBoth = judged('both');
export const byCalls = judged('calls');
export const byJudge = judged('judge');
