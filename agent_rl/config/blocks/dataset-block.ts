import { Type } from 'typebox';

import { block } from './block.ts';

const split = (name: string, use: string) =>
  Type.String({ minLength: 1, default: name, description: `<dir>/<this>.jsonl is ${use}` });

/** `datasets:` where the tasks are. Of one folder, `dataset.dir` is the short form. */
export const DatasetsBlock = Type.Array(
  Type.Object(
    {
      dir: Type.String({ minLength: 1, description: 'Folder that holds the splits' }),
      weight: Type.Number({
        exclusiveMinimum: 0,
        default: 1,
        description: 'How often its tasks are drawn; only ratios count',
      }),
    },
    { additionalProperties: false },
  ),
  {
    minItems: 1,
    description:
      'Folders of tasks, mixed by weight and each reported by name; for a single one, dataset.dir',
  },
);

/** `dataset:` which tasks of the folders, and how they are read. */
export const DatasetBlock = block(
  {
    // Read as `datasets`, so it is never in a config that was loaded.
    dir: Type.Optional(
      Type.String({ minLength: 1, description: 'Short for datasets: [{dir: this}]' }),
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
  'Which tasks of the folders, and how they are read',
);
