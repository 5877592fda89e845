import type { NativeLimits } from './native-limits.ts';

/** The supervisor's first line. */
export interface Hello {
  readonly level: string;
  readonly python: string;
  /** False where a container forbids it: what a program prints of addresses is then different each time. */
  readonly fixedAddresses: boolean;
  readonly walls: {
    /** Version of Landlock's interface; 0 is none. */
    readonly landlock: number;
    readonly seccomp: boolean;
    /** Whether programs run as another user than the trainer. */
    readonly user: 'own' | 'same';
    /** Whether the kernel counts the threads of each program apart from those of others. */
    readonly tasks: 'own' | 'shared';
  };
  /** Folders that earlier supervisors left behind. */
  readonly swept: number;
}

/** What the supervisor is asked; jobs are JSON text that it passes on unread. */
export type SupervisorRequest =
  | {
      readonly do: 'run';
      readonly entry: 'run' | 'calls';
      readonly limits: NativeLimits;
      readonly job: string;
      /** In base64. */
      readonly stdin: string;
    }
  | {
      readonly do: 'judge';
      readonly limits: NativeLimits;
      readonly job: string;
      readonly tests: string;
    }
  | {
      readonly do: 'session';
      readonly session: string;
      /** Whether the process is to be started; otherwise it must be there. */
      readonly first: boolean;
      /** Of the session's process, but for `wall_s`, which is this program's. */
      readonly limits: NativeLimits;
      readonly job: string;
    };

/** How a process ended. */
export interface ProcessEnd {
  /** As waitpid(2) gives it; null when it could not be started. */
  readonly status: number | null;
  readonly disk_full: boolean;
  /** A watched folder held more than it may; level lite. */
  readonly over_quota: boolean;
  /** It had more threads than it may; level lite without root. */
  readonly over_tasks: boolean;
  readonly cpu_s: number;
  readonly peak_kib: number;
  /** Why it could not be started. */
  readonly failed: string | null;
}

/** What a process did. */
export interface ProcessReply {
  /** Why the supervisor ended it, if it did. */
  readonly why: 'timeout' | 'output_limit' | 'cancelled' | 'closed' | null;
  /** The first bytes, in base64. */
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** Lines of JSON that the harness wrote, and with it whatever the program did. */
  readonly notes: string;
  readonly wallMs: number;
  /** Null for a session that goes on. */
  readonly end: ProcessEnd | null;
}

export interface SupervisorReply extends ProcessReply {
  /** Of a judgement: the process that ran the tests. */
  readonly tests?: ProcessReply;
  /** Of a session: whether its process goes on. */
  readonly alive?: boolean;
}

/** There is no process of a session any more, though one was left running: nothing was run. */
export interface SessionGone {
  readonly gone: true;
}
