import { Type } from 'typebox';

import { block } from './block.ts';

const logLevels = ['error', 'warn', 'info', 'debug'] as const;

/** `run:` the name of the run, where it writes and what it runs on. */
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
    seed: Type.Integer({
      minimum: 0,
      maximum: 4294967295,
      default: 42,
      description: 'Seed of everything random in the run',
    }),
    outputDir: Type.String({
      minLength: 1,
      default: 'runs',
      description: 'Folder that holds the folders of all runs',
    }),
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
        description: 'Threads for matrix products; by default as many as there are processors',
      }),
    ),
    previewTasks: Type.Integer({
      minimum: 0,
      default: 3,
      unit: 'tasks',
      description: 'Tasks to print before the run starts',
    }),
    logLevel: Type.Enum([...logLevels], { default: 'info', description: 'Lowest level to log' }),
    logRollouts: Type.Boolean({ default: false, description: 'Log one line for each episode' }),
  },
  'The name of the run, where it writes and what it runs on',
);
