import type {
  RunRequest,
  SandboxFiles,
  SandboxLimits,
  SandboxStatus,
} from '../../agent_rl/core/services/sandbox.ts';
import type { Bait } from './host/bait.ts';

/** Python, or how it is written for the bait that this lane has laid out. */
export type Program = string | ((bait: Bait) => string);

/** A program of an innocent user of the same sandbox. */
export interface Bystander {
  code: Program;
  stdin?: Program;
  /** What it prints when it was left alone; with it, it must end as `ok`. */
  prints: Program;
}

/**
 * One hostile program. It prints a line that begins with `LEAK` when it got what it must not have; the host looks for
 * itself as well. Nothing in it may do lasting harm even where it is not contained.
 */
export interface Attack {
  name: string;
  /** Not always a string: a caller's mistake is an attack too. */
  code: Program | null | number;
  stdin?: string;
  files?: SandboxFiles | ((bait: Bait) => SandboxFiles);
  limits?: SandboxLimits;
  /** Every status that shows it was contained. */
  ends: readonly SandboxStatus[];
  /** Must be in what it printed: that it got as far as it should, or what a user has to be told. */
  says?: string;
  /** Run to their ends before it, in the same sandbox. */
  before?: readonly (Omit<RunRequest, 'code' | 'stdin'> & {
    code: Program;
    stdin?: Program;
  })[];
  /** Run at the same time, in the same sandbox. */
  beside?: Bystander;
  /** What it started needs this long to show. */
  settleMs?: number;
  /** Takes so much of the machine that no other attack should run at the same time. */
  alone?: boolean;
}

export const written = (program: Program, bait: Bait): string =>
  typeof program === 'string' ? program : program(bait);
