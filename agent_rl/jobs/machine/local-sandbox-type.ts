import type { SandboxType } from '../../sandbox/choose-backend.ts';

/** A sandbox of this machine. */
export type LocalSandboxType = Exclude<SandboxType, 'remote'>;

/** All of them, as flags name them. */
export const localSandboxTypes: readonly LocalSandboxType[] = [
  'auto',
  'native',
  'native:ns',
  'native:lite',
  'pyodide',
];
