import { Type } from 'typebox';

const split = (name: string, use: string) =>
  Type.String({ minLength: 1, default: name, description: `<dir>/<this>.jsonl is ${use}` });

/** `dataset:` the tasks. */
export const DatasetBlock = Type.Object(
  {
    dir: Type.String({ minLength: 1, description: 'Folder that holds the splits' }),
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
