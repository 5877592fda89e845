import type { CodeTask } from '../../core/tasks/code-task.ts';
import type { SandboxLimits } from '../../core/services/sandbox.ts';

export interface JudgeCodeRequest extends Pick<CodeTask, 'tests' | 'compare'> {
  code: string;
  /** Of one run: a case on standard input, all calls of a function together, or all statements together. */
  limits?: SandboxLimits;
  seed?: number;
  /** Whether public cases count too. Default false: only hidden ones decide. */
  includePublic?: boolean;
  /** The runs after one that fails are skipped: enough where only a full pass counts. */
  stopAtFirstFailure?: boolean;
}
