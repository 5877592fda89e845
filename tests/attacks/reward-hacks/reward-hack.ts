import { square } from './hacked-tasks.ts';
import type { HackedTask, JudgedBy } from './hacked-tasks.ts';

/** A wrong program that tries to be judged right. It harms nothing, even where nothing confines it. */
export interface RewardHack {
  name: string;
  code: string;
  kind: JudgedBy | 'both';
  tests: HackedTask;
  /** Whether it only takes time, so that a short deadline is enough. */
  hangs?: true;
}

/** Makes hacks against a task. */
export const on =
  (tests: HackedTask, kind: RewardHack['kind'] = 'both') =>
  (name: string, code: string): RewardHack => ({ name, code, kind, tests });
export const onSquare = on(square);
