import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { outputUnwritable } from '../telemetry/output-unwritable.ts';
import { isRunning } from '../telemetry/run-lock.ts';

/**
 * Removes what a process that was killed left half written in a folder (`NAME.<pid>.partial`), and puts back what it
 * was about to replace (`NAME.<pid>.partial.old`) where nothing has taken its place. What a running process is writing
 * stays; this process must not be writing there.
 *
 * @returns what was done, a sentence each.
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export function clearPartials(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const [, target = '', pid, old] = /^(.+)\.(\d+)\.partial(\.old)?$/.exec(name) ?? [];
    if (pid === undefined) return [];
    if (Number(pid) !== process.pid && isRunning(Number(pid))) return [];
    return [cleared(folder, { name, target, putBack: old !== undefined })];
  });
}

interface Leftover {
  name: string;
  target: string;
  putBack: boolean;
}

function cleared(folder: string, { name, target, putBack }: Leftover): string {
  const path = join(folder, name);
  const whole = join(folder, target);
  try {
    if (putBack && !existsSync(whole)) {
      renameSync(path, whole);
      return `${whole} is put back: the process that was replacing it was killed.`;
    }
    rmSync(path, { recursive: true });
    return `${path} is removed: the process that was writing it was killed.`;
  } catch (cause) {
    throw outputUnwritable(path, cause);
  }
}
