import type { LocalSandboxType } from '../../jobs/machine/local-sandbox-type.ts';

/** Sandboxes that need no server, as flags name them. */
export const localSandboxTypes: LocalSandboxType[] = [
  'auto',
  'native',
  'native:ns',
  'native:lite',
  'pyodide',
];
