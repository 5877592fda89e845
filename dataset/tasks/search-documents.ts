import { showValue } from '../../agent_rl/core/show-value.ts';
import type { SearchDocument } from '../../agent_rl/core/services/search.ts';
import { type DatasetProblem, datasetError } from './dataset-problem.ts';
import { readJsonLines } from './json-lines.ts';
import { rowCheck } from './row-schema.ts';
import { documentRowSchema } from './search-task-dataset.ts';

/**
 * Reads a corpus, one `{"id", "title", "text", "url"?}` a line.
 *
 * @throws AgentRlError `DATASET_INVALID`, with every problem of every line.
 */
export async function readDocuments(file: string): Promise<readonly SearchDocument[]> {
  const check = rowCheck<SearchDocument>(documentRowSchema);
  const problems: DatasetProblem[] = [];
  const documents = new Map<string, SearchDocument>();
  for await (const { line, ...read } of readJsonLines(file)) {
    const checked = 'problem' in read ? { problems: [read.problem] } : check(read.value, line);
    if ('problems' in checked) {
      problems.push(...checked.problems);
      continue;
    }
    const { id } = checked.row;
    if (documents.has(id)) {
      const value = showValue(id);
      const text = `${value} is the id of an earlier document; ids must differ.`;
      problems.push({ line, path: 'id', text, value });
    }
    documents.set(id, checked.row);
  }
  if (problems.length > 0) throw datasetError(file, problems);
  return [...documents.values()];
}
