import { Type } from 'typebox';

import { block, flag, integer, most, number, text } from './block.ts';

const split = (name: string, use: string) =>
  text(`<dir>/<this>.jsonl is ${use}`, { minLength: 1, default: name });

/** `datasets:` where the tasks are. Of one folder, `dataset.dir` is the short form. */
export const DatasetsBlock = Type.Array(
  Type.Object(
    {
      dir: text('Folder that holds the splits', { minLength: 1 }),
      weight: number('How often its tasks are drawn; only ratios count', {
        exclusiveMinimum: 0,
        maximum: most.count,
        default: 1,
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

export const DatasetBlock = block(
  {
    // Read as `datasets`, so it is never in a config that was loaded.
    dir: Type.Optional(text('Short for datasets: [{dir: this}]', { minLength: 1 })),
    trainSplit: split('train', 'trained on'),
    evalSplit: split('eval', 'evaluated on'),
    format: Type.Optional(
      text("Format of a line; by default the environment's own", { minLength: 1 }),
    ),
    maxSamples: Type.Optional(
      integer('Trains on this many, chosen by the seed; all of them by default', {
        minimum: 1,
        maximum: 1e9,
        unit: 'tasks',
      }),
    ),
    shuffle: flag('Each pass in another order', true),
  },
  'Which tasks of the folders, and how they are read',
);
