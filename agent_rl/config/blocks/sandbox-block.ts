import { Type } from 'typebox';

import { limitBounds } from '../../core/services/sandbox.ts';
import { block } from './block.ts';

/** `sandbox:` where untrusted code runs. */
export const SandboxBlock = block(
  {
    type: Type.Enum(['auto', 'native', 'native:ns', 'native:lite', 'pyodide', 'remote'], {
      default: 'auto',
      description:
        'auto takes the strongest that this machine has, and the log names it; a level that is named is never weakened',
    }),
    python: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Python of the native sandbox: its path, or its name on PATH; by default that of the system',
      }),
    ),
    preload: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_.]*$' }), {
      default: [],
      description:
        'Modules outside the standard library that programs may import, such as numpy; native sandbox only',
    }),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Address of the server of a remote sandbox; only with type remote',
      }),
    ),
    tokenEnv: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        description:
          'Environment variable that holds the token of that server; only with type remote',
      }),
    ),
    workers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        unit: 'processes',
        description: 'Programs to run at once; by default as many as there are processors',
      }),
    ),
    wallS: Type.Number({
      ...limitBounds.wallS,
      default: 5,
      unit: 's',
      description: 'Wall-clock limit of a program',
    }),
    memoryMiB: Type.Integer({
      ...limitBounds.memoryMiB,
      default: 256,
      unit: 'MiB',
      description: 'Memory limit of a program',
    }),
  },
  'Where untrusted code runs',
);
