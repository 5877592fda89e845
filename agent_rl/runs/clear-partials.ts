import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { writing } from '../telemetry/output-unwritable.ts';
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
    const [path, whole] = [join(folder, name), join(folder, target)];
    if (old !== undefined && !existsSync(whole)) {
      writing(path, () => renameSync(path, whole));
      return `${whole} is put back: the process that was replacing it was killed.`;
    }
    writing(path, () => rmSync(path, { recursive: true }));
    return `${path} is removed: the process that was writing it was killed.`;
  });
}
