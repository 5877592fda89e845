import { Type } from 'typebox';

import { above, block, choice, flag, integer, most, number, optionalText, text } from './block.ts';

const split = (name: string, use: string) =>
  text(
    `<dir>/<this>.jsonl is ${use}; without it .ndjson, .csv, .tsv, .json or .parquet. With its ending, this is the name of the file`,
    { minLength: 1, default: name },
  );

/** `datasets:` where the tasks are. */
export const DatasetsBlock = Type.Array(
  Type.Object(
    {
      dir: optionalText('Folder that holds the splits; this or generator'),
      generator: Type.Optional(
        Type.Object({
          type: text(
            'Name of a task generator, with its settings beside it: instead of a folder, it makes the tasks to train on from run.seed, without end, and the evaluation',
            { minLength: 1 },
          ),
        }),
      ),
      weight: number('How often its tasks are drawn; only ratios count', above(0, most.count, 1)),
      environment: optionalText(
        'Where environment is a list, the name of the one its tasks are for; metadata.environment of a task goes before',
      ),
      format: optionalText("Format of a line; by default the environment's own"),
      columns: Type.Optional(
        Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1 }), {
          description:
            'Column that each field of the format is taken from, such as {question: problem}; a dot goes into an object. Fields that are not named keep their names',
          minProperties: 1,
        }),
      ),
      answerPattern: optionalText(
        "Regular expression: of answer only its first group is kept, or all it matches, where it matches last. '#### (.+)' for GSM8K",
      ),
    },
    { additionalProperties: false },
  ),
  {
    minItems: 1,
    description: 'Folders of tasks and task generators, mixed by weight and each reported by name',
  },
);

export const DatasetBlock = block(
  {
    trainSplit: split('train', 'trained on'),
    evalSplit: split('eval', 'evaluated on'),
    maxSamples: Type.Optional(
      integer('Trains on this many, chosen by the seed; all of them by default', {
        minimum: 1,
        maximum: 1e9,
        unit: 'tasks',
      }),
    ),
    shuffle: flag('Each pass in another order', true),
    tooLong: choice(
      'What becomes of rows and evaluation tasks whose prompt leaves no room to answer in rollout.maxEpisodeTokens, and of conversations longer than the model has positions: refuse ends the run before it begins, skip leaves them out and names them',
      ['refuse', 'skip'],
      'refuse',
    ),
  },
  'Which tasks of the folders, and how they are read',
);
