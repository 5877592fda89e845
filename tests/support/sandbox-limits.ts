import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { behindLayers } from '#agent_rl/sandbox/open-sandbox.ts';

/**
 * Limits for programs that end by themselves. Their deadline is there for a test that fails, not for a machine that is
 * slow or stands still for a while: a program that is to be stopped by its deadline says a short one.
 */
export const unhurriedLimits = { wallS: 60, memoryMiB: 256 } as const;

/** A backend behind the door, with these limits for a program that names none. */
export const unhurried = (backend: Sandbox, workers = 2): Sandbox =>
  behindLayers(backend, { workers, limits: unhurriedLimits });
