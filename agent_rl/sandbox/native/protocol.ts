import { keptOutputBytes, type SandboxLimits } from '../../core/services/sandbox.ts';

/** Text as requests hold it. */
export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The supervisor's first line. */
export interface Hello {
  level: string;
  python: string;
  /** False where a container forbids it: what a program prints of addresses is then different each time. */
  fixedAddresses: boolean;
  walls: {
    /** Version of Landlock's interface; 0 is none. */
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
      /** Of the session's process, but for `wall_s`, which is this program's. */
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
  /** Whether its time was over, by the supervisor's clock, before it ended. Not said of tests. */
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
  /** Of a judgement: the process that ran the tests. */
  tests?: ProcessReply;
  /** Of a session: whether its process lives on. */
  alive?: boolean;
}

/** There is no process of a session any more, though one was left running: nothing was run. */
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
