import { Type } from 'typebox';

const split = (name: string, use: string) =>
  Type.String({ minLength: 1, default: name, description: `<dir>/<this>.jsonl is ${use}` });

/** `dataset:` the tasks. */
export const DatasetBlock = Type.Object(
  {
    dir: Type.String({ minLength: 1, description: 'Folder that holds the splits' }),
    weight: Type.Number({
      exclusiveMinimum: 0,
      default: 1,
      description: 'How often its tasks are drawn beside those of dataset.also',
    }),
    also: Type.Array(
      Type.Object(
        {
          dir: Type.String({ minLength: 1, description: 'Folder that holds the same splits' }),
          weight: Type.Number({
            exclusiveMinimum: 0,
            default: 1,
            description: 'How often its tasks are drawn; only ratios count',
          }),
        },
        { additionalProperties: false },
      ),
      {
        default: [],
        description: 'More sets of tasks, mixed with those of dir and reported apart',
      },
    ),
    trainSplit: split('train', 'trained on'),
    evalSplit: split('eval', 'evaluated on'),
    format: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Format of a line; by default the environment's own",
      }),
    ),
    maxSamples: Type.Optional(
      Type.Integer({
        minimum: 1,
        unit: 'tasks',
        description: 'Trains on this many, chosen by the seed; all of them by default',
      }),
    ),
    shuffle: Type.Boolean({ default: true, description: 'Each pass in another order' }),
  },
  { additionalProperties: false, description: 'The tasks' },
);
