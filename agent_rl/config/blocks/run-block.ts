import { Type } from 'typebox';

import {
  block,
  choice,
  flag,
  integer,
  most,
  number,
  optionalText,
  text,
  variable,
  within,
} from './block.ts';
import { limitBounds } from '../../core/services/sandbox.ts';

const ofTokens = (what: string) => number(`For a million tokens ${what}`, within(0, 1e6, 0));

/** `run.prices:` what a hosted service charges. */
const PricesBlock = Type.Object(
  {
    currency: text('As it is shown', { minLength: 1, maxLength: 8, default: 'USD' }),
    read: ofTokens('in the contexts of turns, each turn counted anew'),
    sampled: ofTokens('sampled'),
    trained: ofTokens('of sequences in updates'),
  },
  {
    additionalProperties: false,
    description:
      'What a hosted service charges: plan, log and summary then name prices; without the block there are none',
  },
);

export const RunBlock = block(
  {
    name: Type.Optional(
      Type.String({
        // No name that Windows keeps for a device, and no full stop at the end, which it drops.
        pattern:
          '^(?!(?:[Cc][Oo][Nn]|[Pp][Rr][Nn]|[Aa][Uu][Xx]|[Nn][Uu][Ll]|[Cc][Oo][Mm][0-9]|[Ll][Pp][Tt][0-9])(?:[.]|$))[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?$',
        description:
          'Name of its folder in outputDir: letters, digits, full stops, hyphens and underscores, not the name of a Windows device; by default made of the run file and the seed',
      }),
    ),
    seed: integer('Seed of everything random in the run', within(0, 4294967295, 42)),
    outputDir: text('Folder that holds the folders of all runs', { minLength: 1, default: 'runs' }),
    device: text('cpu, cuda, cuda:N, webgpu or tensorflow', {
      pattern: '^(cpu|cuda(:[0-9]+)?|webgpu|tensorflow)$',
      default: 'cpu',
    }),
    engineThreads: Type.Optional(
      integer(
        'Threads for matrix products; by default as many as there are processors. Another number gives other last bits',
        { minimum: 1, maximum: 256, unit: 'threads' },
      ),
    ),
    decoders: Type.Optional(
      integer(
        'Threads that draw tokens, each for its share of the episodes, which changes no token; by default as many as engineThreads, if each has 16 episodes or more and the weights take at most 256 MiB',
        { minimum: 1, maximum: 256, unit: 'threads' },
      ),
    ),
    previewTasks: integer(
      'Tasks to print before the run starts',
      within(0, most.count, 3, 'tasks'),
    ),
    logLevel: choice('Lowest level to log', ['error', 'warn', 'info', 'debug'], 'info'),
    prices: Type.Optional(PricesBlock),
    logRollouts: flag('Log one line for each episode', false),
  },
  'The name of the run, where it writes and what it runs on',
);

export const SandboxBlock = block(
  {
    type: choice(
      'auto takes the strongest that this machine has, and the log names it; a level that is named is never weakened',
      ['auto', 'native', 'native:ns', 'native:lite', 'pyodide', 'remote'],
      'auto',
    ),
    python: optionalText(
      'Python of the native sandbox: its path, or its name on PATH; by default that of the system',
    ),
    preload: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_.]*$' }), {
      default: [],
      description:
        'Modules outside the standard library that programs may import, such as numpy; native sandbox only',
    }),
    url: Type.Optional(
      Type.Union(
        [
          Type.String({ minLength: 1 }),
          Type.Array(Type.String({ minLength: 1 }), {
            minItems: 1,
            maxItems: 64,
            uniqueItems: true,
          }),
        ],
        {
          description:
            'Address of the server of a remote sandbox, or a list of several that are alike; only with type remote',
        },
      ),
    ),
    tokenEnv: variable(
      'Environment variable that holds the token of the servers; only with type remote',
    ),
    caFile: Type.Optional(
      text(
        'PEM file of authorities that the certificates of the servers may be of, besides the usual ones; only with type remote and https',
        { path: 'file', minLength: 1 },
      ),
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
