import { AgentRlError } from '../../../core/errors.ts';
import { namedOrShipped } from '../../../core/package-root.ts';
import { localSandboxTypes } from '../../../jobs/machine/local-sandbox-type.ts';
import { command } from '../../command.ts';
import {
  choiceFlag,
  listFlag,
  numberFlag,
  type Parsed,
  requiredFlag,
  switchFlag,
  textFlag,
} from '../../flags/flag.ts';

export const verifyDataset = command({
  name: 'verify',
  describe: 'Check a dataset: reference solutions against their tests, answers against documents',
  examples: [
    ['--dataset my_tasks/train.jsonl', 'Run the reference solutions of code tasks'],
    ['--dataset mbpp.jsonl --format mbpp --degenerate', 'List tasks that reward a constant answer'],
    [
      '--dataset test.parquet --format question --answer-pattern "#### (.+)" --column question=problem',
      'Read questions whose columns have other names',
    ],
    ['--dataset rides.jsonl --format plain', 'Read tasks for an environment of your own'],
    [
      '--dataset questions.jsonl --format search --documents documents.jsonl',
      'Look for the answers of search tasks in their documents',
    ],
  ],
  flags: {
    dataset: requiredFlag('File of tasks: JSONL, CSV, TSV, a JSON list or Parquet, by its ending'),
    format: textFlag('code (the default), humaneval, mbpp, search, question or plain'),
    column: listFlag(
      'Column that a field of the format is taken from, as FIELD=COLUMN (datasets[].columns of a run file): --column question=problem',
    ),
    'answer-pattern': textFlag(
      'Regular expression of what is kept of answer (datasets[].answerPattern of a run file)',
    ),
    documents: textFlag('Search tasks: JSONL file of the corpus'),
    degenerate: switchFlag(
      'Code tasks: list those whose full reward a constant answer earns (None, 0, an empty text or list, True, the input itself)',
    ),
    'sandbox-type': choiceFlag(
      'Code tasks: sandbox for the reference solutions; the strongest here otherwise',
      localSandboxTypes,
    ),
    'sandbox-python': textFlag('Code tasks: Python of the native sandbox'),
    'sandbox-workers': numberFlag('Code tasks: programs run at once', {
      from: 1,
      to: 256,
      whole: true,
    }),
  },
  run: ({ dataset, documents, column, ...flags }, { jobs, job, parsed }) => {
    refuseIdle(parsed, flags.format);
    return jobs.verifyDataset({
      ...flags,
      dataset: namedOrShipped(dataset),
      columns: columnsOf(column),
      documents: documents === undefined ? documents : namedOrShipped(documents),
      ...job,
    });
  },
});

/** @throws AgentRlError `CONFIG_INVALID` */
function columnsOf(pairs: readonly string[]): Readonly<Record<string, string>> {
  const columns = new Map<string, string>();
  for (const pair of pairs) {
    const [, field, column] = /^([^=\s]+)=(.+)$/.exec(pair) ?? [];
    if (field === undefined || column === undefined || columns.has(field)) {
      const what = field === undefined ? 'is not of the form FIELD=COLUMN' : 'names a field again';
      throw new AgentRlError(
        'CONFIG_INVALID',
        `--column ${pair} ${what}. Write --column question=problem, once for each field.`,
      );
    }
    columns.set(field, column);
  }
  return Object.fromEntries(columns);
}

const ofCode = ['degenerate', 'sandbox-type', 'sandbox-python', 'sandbox-workers'] as const;

/** Flags that a format has no use for. */
const idleFlags = new Map<string, readonly string[]>([
  ['search', ofCode],
  ['plain', [...ofCode, 'documents']],
  ['question', [...ofCode, 'documents']],
]);

/** @throws AgentRlError `CONFIG_INVALID` for flags that the format has no use for */
function refuseIdle(parsed: Parsed, format = 'code'): void {
  const idle = (idleFlags.get(format) ?? ['documents']).filter(
    // A switch that was not given is false.
    (flag) => parsed[flag] !== undefined && parsed[flag] !== false,
  );
  if (idle.length === 0) return;
  const flags = idle.map((flag) => `--${flag}`).join(', ');
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${flags}: no effect on ${format} tasks. Leave ${idle.length === 1 ? 'it' : 'them'} out.`,
  );
}
