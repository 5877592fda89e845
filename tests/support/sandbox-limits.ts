/**
 * Limits for programs that end by themselves. Their deadline is there for a test that fails, not for a machine that is
 * slow or stands still for a while: a program that is to be stopped by its deadline says a short one.
 */
export const unhurriedLimits = { wallS: 60, memoryMiB: 256 } as const;
