import { type Static, Type } from '../../agent_rl/core/typebox.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import { answerKey } from '../../agent_rl/core/tasks/answer-match.ts';
import { labelText } from '../../agent_rl/core/tasks/decimal-text.ts';
import type { SearchDocument } from '../../agent_rl/core/services/search.ts';
import type { SearchTask } from '../../agent_rl/core/tasks/search-task.ts';
import type { TableReading } from '../tables/table-reading.ts';
import { type DatasetProblem } from './dataset-problem.ts';
import { readRows } from './read-rows.ts';
import {
  readSplits,
  readTasks,
  TaskDataset,
  type TaskFormat,
  type TaskSplits,
} from './read-tasks.ts';
import { anyMetadata, closed, filled, rowCheck } from './row-schema.ts';

const DocumentRow = Type.Object(
  { id: filled, title: Type.String(), text: filled, url: Type.Optional(filled) },
  closed,
);

const SearchRow = Type.Object(
  {
    task_id: filled,
    question: filled,
    answer: Type.Union([filled, Type.Number()]),
    aliases: Type.Optional(Type.Array(filled)),
    documents: Type.Optional(Type.Array(Type.Union([filled, DocumentRow]))),
    metadata: anyMetadata,
  },
  closed,
);
type SearchRow = Static<typeof SearchRow>;

/** A question a row, with the documents that answer it. */
export const searchFormat: TaskFormat<SearchTask> = {
  needs: 'task_id, question and answer',
  reader: () =>
    rowCheck(SearchRow, (row, line) => {
      const problems = problemsOf(row, line);
      return problems.length > 0 ? { problems } : { row: taskOf(row) };
    }),
};

/**
 * Reads a corpus, one `{"id", "title", "text", "url"?}` a line.
 *
 * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file.
 */
export const readDocuments = (file: string): Promise<SearchDocument[]> =>
  readRows(file, {
    name: 'documents',
    remedy: 'Each line of a corpus has id, title and text, and may have a url.',
    reader: () => rowCheck(DocumentRow),
    unique: { path: 'id', of: ({ id }) => id },
  });

/** The questions of one file, in its order. */
export class SearchTaskDataset extends TaskDataset<SearchTask> {
  /**
   * Reads a JSONL file of `{"task_id", "question", "answer", "aliases"?, "documents"?, "metadata"?}`. A document is
   * the id of one in the corpus, or `{"id", "title", "text", "url"?}`.
   *
   * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file, `file:line path: …`.
   */
  static async fromPath(file: string, reading: TableReading = {}): Promise<SearchTaskDataset> {
    const { tasks, places } = await readTasks(file, searchFormat, reading);
    return new SearchTaskDataset(file, tasks, places);
  }
}

/** What a row that fits its schema can still have wrong. */
function problemsOf(row: SearchRow, line: number): DatasetProblem[] {
  const found: DatasetProblem[] = [];
  if (answerKey(String(row.answer)) === '') {
    const value = showValue(row.answer);
    const text = `${value} has no letter or digit, so no answer could match it.`;
    found.push({ line, path: 'answer', text, value });
  }
  const ids = idsOf(row);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    const value = showValue(twice);
    found.push({ line, path: 'documents', text: `${value} is listed twice.`, value });
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
    answer: labelText(row.answer),
    aliases: row.aliases ?? [],
    documentIds: idsOf(row),
    documents: documents.filter((document) => typeof document !== 'string'),
    metadata: row.metadata ?? {},
  };
}

export type SearchTaskSplits = TaskSplits<SearchTaskDataset>;

/** Reads `<folder>/<split>.jsonl` of both splits. */
export const loadSearchTaskSplits = (
  folder: string,
  splits: { train?: string; eval?: string } = {},
): Promise<SearchTaskSplits> =>
  readSplits(folder, splits, (file) => SearchTaskDataset.fromPath(file));
