import type { LocalSandboxType } from '../../jobs/machine/local-sandbox-type.ts';

/** What a flag may name where there is no address of a server. */
export const localSandboxTypes: LocalSandboxType[] = [
  'auto',
  'native',
  'native:ns',
  'native:lite',
  'pyodide',
];
