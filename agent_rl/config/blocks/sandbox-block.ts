import { Type } from 'typebox';

import { limitBounds } from '../../core/services/sandbox.ts';
import { block } from './block.ts';

/** `sandbox:` where untrusted code runs. */
export const SandboxBlock = block(
  {
    type: Type.Enum(['auto', 'native', 'native:ns', 'native:lite', 'pyodide', 'remote'], {
      default: 'auto',
      description:
        'auto takes the strongest this machine has, and the log names it; a named level is never weakened',
    }),
    python: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Python of the native sandbox, by its path or its name on PATH; by default that of the system',
      }),
    ),
    preload: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_.]*$' }), {
      default: [],
      description:
        'Modules beyond the standard library that programs may import, such as numpy; native sandbox only',
    }),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Address of the remote sandbox's server; type remote only",
      }),
    ),
    tokenEnv: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        description: "Environment variable that holds the server's token; type remote only",
      }),
    ),
    workers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        unit: 'processes',
        description: 'Programs run at once; by default as many as there are processors',
      }),
    ),
    wallS: Type.Number({
      ...limitBounds.wallS,
      default: 5,
      unit: 's',
      description: 'Wall-clock limit of one program',
    }),
    memoryMiB: Type.Integer({
      ...limitBounds.memoryMiB,
      default: 256,
      unit: 'MiB',
      description: 'Memory limit of one program',
    }),
  },
  'Where untrusted code runs',
);
