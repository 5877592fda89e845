import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { resolveRun, type ResolvedRun, type RunRequest } from '#agent_rl/compose/resolve-run.ts';

/** A run file as a job sees it once everything is found and read. */
export async function resolved(
  file: string,
  overrides: readonly string[],
  request: Partial<RunRequest> = {},
): Promise<ResolvedRun> {
  const { signal } = new AbortController();
  const prepared = await prepareRun({ file, overrides, flags: [] }, signal);
  return resolveRun(prepared, { signal, print: () => undefined, trains: false, ...request });
}
