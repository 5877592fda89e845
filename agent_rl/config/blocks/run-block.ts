import { Type } from 'typebox';

import { block } from './block.ts';

const logLevels = ['error', 'warn', 'info', 'debug'] as const;

/** `run:` what the run is called, where it writes and what it runs on. */
export const RunBlock = block(
  {
    name: Type.Optional(
      Type.String({
        // No name that Windows keeps for a device, and no full stop at the end, which it drops.
        pattern:
          '^(?!(?:[Cc][Oo][Nn]|[Pp][Rr][Nn]|[Aa][Uu][Xx]|[Nn][Uu][Ll]|[Cc][Oo][Mm][0-9]|[Ll][Pp][Tt][0-9])(?:[.]|$))[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?$',
        description:
          'Folder under outputDir: letters, digits, full stops, hyphens, underscores, no device of Windows; by default the config file and the seed name it',
      }),
    ),
    seed: Type.Integer({
      minimum: 0,
      maximum: 4294967295,
      default: 42,
      description: 'All randomness of the run is keyed by it',
    }),
    outputDir: Type.String({ minLength: 1, default: 'runs', description: 'Folder of all runs' }),
    device: Type.String({
      pattern: '^(cpu|cuda(:[0-9]+)?|webgpu|tensorflow)$',
      default: 'cpu',
      description: 'cpu, cuda, cuda:N, webgpu or tensorflow',
    }),
    engineThreads: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 256,
        unit: 'threads',
        description: 'Threads of matrix products; by default as many as there are processors',
      }),
    ),
    previewTasks: Type.Integer({
      minimum: 0,
      default: 3,
      unit: 'tasks',
      description: 'Tasks printed before the run starts',
    }),
    logLevel: Type.Enum([...logLevels], { default: 'info', description: 'Least level logged' }),
    logRollouts: Type.Boolean({ default: false, description: 'One log line per rollout' }),
  },
  'What the run is called, where it writes and what it runs on',
);
