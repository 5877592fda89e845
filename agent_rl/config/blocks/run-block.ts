import { Type } from '../../core/typebox.ts';
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

const ofTokens = (what: string) => number(`Price per million ${what}`, within(0, 1e6, 0));

/** `run.prices:` what a hosted service charges. */
const PricesBlock = Type.Object(
  {
    currency: text('Currency to display', { minLength: 1, maxLength: 8, default: 'USD' }),
    read: ofTokens('prompt tokens, counted again at each turn'),
    sampled: ofTokens('sampled tokens'),
    trained: ofTokens('tokens in updates'),
  },
  {
    additionalProperties: false,
    description: 'Prices of a hosted service; with this block the plan, log and summary show costs',
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
          "Name of the run's folder in outputDir (letters, digits, `.`, `-`, `_`); by default the run file's name and the seed",
      }),
    ),
    seed: integer('Seed of all randomness in the run', within(0, 4294967295, 42)),
    outputDir: text('Parent folder of all runs', { minLength: 1, default: 'runs' }),
    device: text('cpu, cuda, cuda:N, webgpu or tensorflow', {
      pattern: '^(cpu|cuda(:[0-9]+)?|webgpu|tensorflow)$',
      default: 'cpu',
    }),
    engineThreads: Type.Optional(
      integer(
        'Threads for matrix products; by default one per processor. A different number causes floating-point differences',
        { minimum: 1, maximum: 256, unit: 'threads' },
      ),
    ),
    decoders: Type.Optional(
      integer(
        'Sampling threads; their number does not change the samples. By default one per 16 episodes, up to engineThreads, if the weights take at most 256 MiB',
        { minimum: 1, maximum: 256, unit: 'threads' },
      ),
    ),
    previewTasks: integer(
      'Tasks to print before the run starts',
      within(0, most.count, 3, 'tasks'),
    ),
    logLevel: choice('Lowest level to log', ['error', 'warn', 'info', 'debug'], 'info'),
    prices: Type.Optional(PricesBlock),
    logRollouts: flag('Log one line per episode', false),
  },
  "The run's name, output folder and device",
);

export const JournalBlock = block(
  {
    durable: choice(
      'What a recorded event survives: the death of the process, or also a power cut, for which each turn waits for the disk',
      ['process', 'power'],
      'process',
    ),
  },
  'How the run records what happens, from which it is resumed',
);

export const SandboxBlock = block(
  {
    type: choice(
      'Kind of sandbox; auto picks the strongest one that this machine supports',
      ['auto', 'native', 'native:ns', 'native:lite', 'pyodide', 'remote'],
      'auto',
    ),
    python: optionalText("Path or command of the native sandbox's Python; by default the system's"),
    preload: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_.]*$' }), {
      default: [],
      description:
        'Additional modules that programs may import, such as numpy; native sandbox only',
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
            'URL of the sandbox server, or a list of equivalent servers; only with type remote',
        },
      ),
    ),
    tokenEnv: variable("Environment variable with the servers' token; only with type remote"),
    caFile: Type.Optional(
      text('PEM file with additional certificate authorities; only with type remote and https', {
        path: 'file',
        minLength: 1,
      }),
    ),
    workers: Type.Optional(
      integer('Programs to run at once; by default one per processor', {
        minimum: 1,
        maximum: 256,
        unit: 'processes',
      }),
    ),
    wallS: number('Time limit of a program', { ...limitBounds.wallS, default: 5, unit: 's' }),
    memoryMiB: integer('Memory limit of a program', {
      ...limitBounds.memoryMiB,
      default: 256,
      unit: 'MiB',
    }),
  },
  'Where untrusted code runs',
);
