import { Type } from '../../core/typebox.ts';
import { above, block, choice, flag, integer, most, number, optionalText, text } from './block.ts';

const split = (name: string, use: string) =>
  text(
    `Split for ${use}: name of a file in dir. If the name has no ending, the first existing file with .jsonl, .ndjson, .csv, .tsv, .json or .parquet is read`,
    { minLength: 1, default: name },
  );

/** `datasets:` the sources of tasks. */
export const DatasetsBlock = Type.Array(
  Type.Object(
    {
      dir: optionalText('Folder with the splits; set either dir or generator'),
      generator: Type.Optional(
        Type.Object({
          type: text(
            'Name of a task generator. It makes the evaluation tasks, and an endless supply of training tasks from run.seed',
            { minLength: 1 },
          ),
        }),
      ),
      weight: number(
        'How often the tasks of this entry are drawn, relative to the other entries of the list',
        above(0, most.count, 1),
      ),
      environment: optionalText(
        "Environment of its tasks, if environment is a list; a task's metadata.environment overrides it",
      ),
      format: optionalText('Format of its rows; by default the format that the environment reads'),
      columns: Type.Optional(
        Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1 }), {
          description:
            'Column to read each field from, such as {question: problem}; a dot reads a nested column. Fields that are not listed are read from columns of their own name',
          minProperties: 1,
        }),
      ),
      answerPattern: optionalText(
        "Regular expression that finds the answer, such as '#### (.+)' for GSM8K. The answer is the last match, or the first group of that match if the expression has groups",
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
      "Refuse or skip tasks that leave no room to answer, and conversations that are longer than the model's context",
      ['refuse', 'skip'],
      'refuse',
    ),
  },
  'Splits, and how tasks are read from them',
);
