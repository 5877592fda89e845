import type { SandboxTier } from './choose-backend.ts';

const mebibyte = 2 ** 20;

/** Resident MiB of what is there once and of one running program; see design.md for how they were measured. */
const sizes: Readonly<Record<SandboxTier, { once: number; each: number }>> = {
  'native:ns': { once: 60, each: 40 },
  'native:lite': { once: 60, each: 21 },
  pyodide: { once: 0, each: 230 },
  remote: { once: 0, each: 0 },
};

/** Resident bytes on this machine of so many sandboxes at once, without what programs ask for themselves. */
export const tierMemory = (tier: SandboxTier, sandboxes: number): number =>
  (sizes[tier].once + sizes[tier].each * sandboxes) * mebibyte;
