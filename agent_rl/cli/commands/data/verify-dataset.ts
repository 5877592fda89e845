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
  describe:
    'Check a dataset: do reference solutions pass their tests, do documents contain the answers',
  examples: [
    ['--dataset my_tasks/train.jsonl', 'Run the reference solutions of code tasks'],
    [
      '--dataset mbpp.jsonl --format mbpp --degenerate',
      'Also list tasks that reward a constant answer',
    ],
    [
      '--dataset test.parquet --format question --answer-pattern "#### (.+)" --column question=problem',
      'Read questions from columns with other names',
    ],
    ['--dataset rides.jsonl --format plain', 'Check tasks for an environment of your own'],
    [
      '--dataset questions.jsonl --format search --documents documents.jsonl',
      'Check that the documents of search tasks contain the answers',
    ],
  ],
  flags: {
    dataset: requiredFlag('File of tasks (.jsonl, .csv, .tsv, .json or .parquet)'),
    format: textFlag('code, humaneval, mbpp, search, question or plain (default: code)'),
    column: listFlag(
      'Column to read a field from, as FIELD=COLUMN: --column question=problem (in a run file: datasets[].columns)',
    ),
    'answer-pattern': textFlag(
      'Regular expression for the part of the answer to keep (in a run file: datasets[].answerPattern)',
    ),
    documents: textFlag('Search tasks: JSONL file of the documents'),
    degenerate: switchFlag(
      'Code tasks: list tasks for which a constant answer earns the full reward (None, 0, an empty text or list, True, the input itself)',
    ),
    'sandbox-type': choiceFlag(
      'Code tasks: sandbox for the reference solutions (default: the strongest on this machine)',
      localSandboxTypes,
    ),
    'sandbox-python': textFlag('For code tasks: the Python interpreter of the native sandbox'),
    'sandbox-workers': numberFlag('Code tasks: programs to run in parallel', {
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
      const what = field === undefined ? 'is not of the form FIELD=COLUMN' : 'repeats a field';
      throw new AgentRlError(
        'CONFIG_INVALID',
        `--column ${pair} ${what}. Write it as in --column question=problem, once for each field.`,
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
    idle.length === 1
      ? `${flags} has no effect on ${format} tasks. Remove this option.`
      : `${flags} have no effect on ${format} tasks. Remove these options.`,
  );
}
