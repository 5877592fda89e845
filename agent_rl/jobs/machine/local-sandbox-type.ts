import type { SandboxType } from '../../sandbox/choose-backend.ts';

/** A sandbox of this machine. */
export type LocalSandboxType = Exclude<SandboxType, 'remote'>;
