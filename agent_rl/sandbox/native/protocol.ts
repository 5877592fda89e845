import { keptOutputBytes, type SandboxLimits } from '../../core/services/sandbox.ts';

/** Text as requests encode it. */
export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The supervisor's first line. */
export interface Hello {
  level: string;
  python: string;
  /** False when a container forbids it: the addresses that a program prints then differ from run to run. */
  fixedAddresses: boolean;
  walls: {
    /** Version of Landlock's interface; 0 if Landlock is not available. */
    landlock: number;
    seccomp: boolean;
    /** Whether programs run as another user than the trainer. */
    user: 'own' | 'same';
    /** Whether the kernel counts the threads of each program separately. */
    tasks: 'own' | 'shared';
  };
  /** Folders that earlier supervisors left behind. */
  swept: number;
}

/** What the supervisor is asked; jobs are JSON text that it passes on unread. */
export type SupervisorRequest =
  | {
      do: 'run';
      entry: 'run' | 'calls';
      limits: NativeLimits;
      job: string;
      /** In base64. */
      stdin: string;
    }
  | {
      do: 'judge';
      limits: NativeLimits;
      job: string;
      tests: string;
    }
  | {
      do: 'session';
      session: string;
      /** Whether the process is to be started; otherwise it must be there. */
      first: boolean;
      /** Limits of the session's process, except `wall_s`, which is this program's. */
      limits: NativeLimits;
      job: string;
    };

/** How a process ended. */
export interface ProcessEnd {
  /** As waitpid(2) gives it; null when it could not be started. */
  status: number | null;
  disk_full: boolean;
  /** A watched folder held more than it may; level lite. */
  over_quota: boolean;
  /** It had more threads than it may; level lite without root. */
  over_tasks: boolean;
  cpu_s: number;
  peak_kib: number;
  /** Why it could not be started. */
  failed: string | null;
}

/** What a process did. */
export interface ProcessReply {
  /** Why the supervisor ended it, if it did. */
  why: 'timeout' | 'output_limit' | 'cancelled' | 'closed' | null;
  /** Whether its time was over, by the supervisor's clock, before it ended. Left out for tests. */
  late?: boolean;
  /** The first bytes, in base64. */
  stdout: string;
  stderr: string;
  stdoutBytes: number;
  stderrBytes: number;
  /** Lines of JSON that the harness wrote, and with it whatever the program did. */
  notes: string;
  wallMs: number;
  /** Null while a session's process lives on. */
  end: ProcessEnd | null;
}

export interface SupervisorReply extends ProcessReply {
  /** The process that ran the tests of a judgement. */
  tests?: ProcessReply;
  /** Whether the process of a session lives on. */
  alive?: boolean;
}

/** The process of a session has ended since its last program: nothing was run. */
export interface SessionGone {
  gone: true;
}

/** Limits as the supervisor takes them. */
type NativeLimits = ReturnType<typeof nativeLimits>;

const mebibyte = 1024 * 1024;

/** `totalS` bounds the processor time of a process that runs more than one program. */
export const nativeLimits = ({ wallS, memoryMiB }: Required<SandboxLimits>, totalS = wallS) => ({
  wall_s: wallS,
  cpu_s: Math.ceil(totalS) + 1,
  memory_mib: Math.floor(memoryMiB),
  disk_mib: 32,
  entries: 2048,
  file_mib: 32,
  tasks: 64,
  descriptors: 64,
  output_kept: keptOutputBytes,
  output_most: 4 * mebibyte,
});
