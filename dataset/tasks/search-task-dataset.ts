import path from 'node:path';

import { Type } from 'typebox';

import { answerKey } from '../../agent_rl/core/tasks/answer-match.ts';
import type { SearchDocument } from '../../agent_rl/core/services/search.ts';
import type { SearchTask } from '../../agent_rl/core/tasks/search-task.ts';
import { type DatasetProblem, datasetError, shownValue } from './dataset-problem.ts';
import { readJsonLines } from './json-lines.ts';
import { rowCheck } from './row-schema.ts';

const closed = { additionalProperties: false } as const;
const filled = Type.String({ minLength: 1 });

/** A document as rows and corpora hold it. */
export const documentRowSchema = Type.Object(
  {
    id: filled,
    title: Type.String({ default: '' }),
    text: filled,
    url: Type.Optional(filled),
  },
  closed,
);

const searchRowSchema = Type.Object(
  {
    task_id: filled,
    question: filled,
    answer: Type.Union([filled, Type.Number()]),
    aliases: Type.Optional(Type.Array(filled)),
    documents: Type.Optional(Type.Array(Type.Union([filled, documentRowSchema]))),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  closed,
);

interface SearchRow {
  task_id: string;
  question: string;
  answer: string | number;
  aliases?: readonly string[];
  documents?: readonly (string | SearchDocument)[];
  metadata?: Readonly<Record<string, unknown>>;
}

/** The questions of one file, in its order. */
export class SearchTaskDataset implements Iterable<SearchTask> {
  readonly #byId: ReadonlyMap<string, SearchTask>;

  private constructor(
    readonly file: string,
    readonly tasks: readonly SearchTask[],
  ) {
    this.#byId = new Map(tasks.map((task) => [task.taskId, task]));
  }

  /**
   * Reads a JSONL file of `{"task_id", "question", "answer", "aliases"?, "documents"?, "metadata"?}`. A document is
   * the id of one in the corpus, or `{"id", "title", "text", "url"?}`.
   *
   * @throws AgentRlError `DATASET_INVALID`, with every problem of every line, `file:line path: …`.
   */
  static async fromPath(file: string): Promise<SearchTaskDataset> {
    const check = rowCheck<SearchRow>(searchRowSchema);
    const problems: DatasetProblem[] = [];
    const tasks: SearchTask[] = [];
    const lineOf = new Map<string, number>();
    for await (const { line, ...read } of readJsonLines(file)) {
      if ('problem' in read) {
        problems.push(read.problem);
        continue;
      }
      const checked = check(read.value, line);
      if ('problems' in checked) {
        problems.push(...checked.problems);
        continue;
      }
      const { row } = checked;
      problems.push(...problemsOf(row, line, lineOf));
      tasks.push(taskOf(row));
    }
    if (problems.length === 0 && tasks.length === 0) {
      const text = 'the file holds no tasks; expected a JSONL file with one task a line.';
      problems.push({ line: 1, path: '', text });
    }
    if (problems.length > 0) throw datasetError(file, problems);
    return new SearchTaskDataset(file, tasks);
  }

  get size(): number {
    return this.tasks.length;
  }

  /** The task of this id, if the file has it. */
  get(taskId: string): SearchTask | undefined {
    return this.#byId.get(taskId);
  }

  [Symbol.iterator](): Iterator<SearchTask> {
    return this.tasks[Symbol.iterator]();
  }
}

/** What a row that fits its schema can still have wrong. */
function problemsOf(row: SearchRow, line: number, lineOf: Map<string, number>): DatasetProblem[] {
  const found: DatasetProblem[] = [];
  const first = lineOf.get(row.task_id);
  if (first === undefined) lineOf.set(row.task_id, line);
  else {
    const text = `${shownValue(row.task_id)} is already the task of line ${first}; every task_id must be unique.`;
    found.push({ line, path: 'task_id', text });
  }
  if (answerKey(String(row.answer)) === '') {
    const text = `${shownValue(row.answer)} has no letter or digit, so nothing could be compared with it.`;
    found.push({ line, path: 'answer', text });
  }
  const ids = idsOf(row);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    found.push({ line, path: 'documents', text: `${shownValue(twice)} is listed twice.` });
  }
  return found;
}

const idsOf = ({ documents = [] }: SearchRow): string[] =>
  documents.map((document) => (typeof document === 'string' ? document : document.id));

function taskOf(row: SearchRow): SearchTask {
  const { documents = [] } = row;
  return {
    taskId: row.task_id,
    prompt: row.question,
    answer: String(row.answer),
    aliases: row.aliases ?? [],
    documentIds: idsOf(row),
    documents: documents.filter((document) => typeof document !== 'string'),
    metadata: row.metadata ?? {},
  };
}

export interface SearchTaskSplits {
  train: SearchTaskDataset;
  eval: SearchTaskDataset;
}

/** Reads `<folder>/<split>.jsonl` of both splits. */
export async function loadSearchTaskSplits(
  folder: string,
  splits: { train?: string; eval?: string } = {},
): Promise<SearchTaskSplits> {
  const load = (split: string): Promise<SearchTaskDataset> =>
    SearchTaskDataset.fromPath(path.join(folder, `${split}.jsonl`));
  const [train, evaluation] = await Promise.all([
    load(splits.train ?? 'train'),
    load(splits.eval ?? 'eval'),
  ]);
  return { train, eval: evaluation };
}
