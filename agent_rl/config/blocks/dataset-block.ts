import { Type } from 'typebox';

import { above, block, choice, flag, integer, most, number, optionalText, text } from './block.ts';

const split = (name: string, use: string) =>
  text(
    `Split for ${use}: a file name in dir, without ending the first of .jsonl, .ndjson, .csv, .tsv, .json and .parquet that exists`,
    { minLength: 1, default: name },
  );

/** `datasets:` the sources of tasks. */
export const DatasetsBlock = Type.Array(
  Type.Object(
    {
      dir: optionalText('Folder with the splits; either this or generator'),
      generator: Type.Optional(
        Type.Object({
          type: text(
            'Name of a task generator, which generates training tasks endlessly from run.seed, and the evaluation tasks',
            { minLength: 1 },
          ),
        }),
      ),
      weight: number('Relative frequency of its tasks', above(0, most.count, 1)),
      environment: optionalText(
        "Environment of its tasks, if environment is a list; a task's metadata.environment overrides it",
      ),
      format: optionalText("Format of its rows; by default the environment's"),
      columns: Type.Optional(
        Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1 }), {
          description:
            'Column of each field, such as {question: problem}; a dot reads a nested field. Other fields keep their names',
          minProperties: 1,
        }),
      ),
      answerPattern: optionalText(
        "Regular expression whose last match (its first group, if any) is the answer, such as '#### (.+)' for GSM8K",
      ),
    },
    { additionalProperties: false },
  ),
  {
    minItems: 1,
    description: 'Folders of tasks and task generators, mixed by weight',
  },
);

export const DatasetBlock = block(
  {
    trainSplit: split('train', 'training'),
    evalSplit: split('eval', 'evaluation'),
    maxSamples: Type.Optional(
      integer('Number of tasks to train on, chosen by the seed; all by default', {
        minimum: 1,
        maximum: 1e9,
        unit: 'tasks',
      }),
    ),
    shuffle: flag('Shuffle the tasks before each pass', true),
    tooLong: choice(
      "Whether to refuse or skip tasks without room to answer, and conversations longer than the model's context",
      ['refuse', 'skip'],
      'refuse',
    ),
  },
  'Splits, and how tasks are read from them',
);
