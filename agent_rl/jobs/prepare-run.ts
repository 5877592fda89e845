import type { prepareRun as prepare } from '../compose/prepare-run.ts';

/** Reads a run file, loads its plugins and checks their settings; imported with all plugins that ship when it is called. */
export const prepareRun: typeof prepare = async (...given) =>
  (await import('../compose/prepare-run.ts')).prepareRun(...given);
