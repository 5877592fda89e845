import { Type } from 'typebox';

import { limitBounds } from '../../core/services/sandbox.ts';
import { block, choice, integer, number, text } from './block.ts';

export const SandboxBlock = block(
  {
    type: choice(
      'auto takes the strongest that this machine has, and the log names it; a level that is named is never weakened',
      ['auto', 'native', 'native:ns', 'native:lite', 'pyodide', 'remote'],
      'auto',
    ),
    python: Type.Optional(
      text(
        'Python of the native sandbox: its path, or its name on PATH; by default that of the system',
        { minLength: 1 },
      ),
    ),
    preload: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_.]*$' }), {
      default: [],
      description:
        'Modules outside the standard library that programs may import, such as numpy; native sandbox only',
    }),
    url: Type.Optional(
      text('Address of the server of a remote sandbox; only with type remote', { minLength: 1 }),
    ),
    tokenEnv: Type.Optional(
      text('Environment variable that holds the token of that server; only with type remote', {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
      }),
    ),
    workers: Type.Optional(
      integer('Programs to run at once; by default as many as there are processors', {
        minimum: 1,
        maximum: 256,
        unit: 'processes',
      }),
    ),
    wallS: number('Wall-clock limit of a program', { ...limitBounds.wallS, default: 5, unit: 's' }),
    memoryMiB: integer('Memory limit of a program', {
      ...limitBounds.memoryMiB,
      default: 256,
      unit: 'MiB',
    }),
  },
  'Where untrusted code runs',
);
