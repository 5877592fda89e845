import type { PreparedRun } from '../../../agent_rl/compose/prepare-run.ts';
import { hitsOf } from '../../../agent_rl/core/services/search.ts';
import type { SearchTask } from '../../../agent_rl/core/tasks/search-task.ts';
import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { openSearch } from '../../../agent_rl/tools/search/open-search.ts';
import { SearchTool } from '../../../agent_rl/tools/search/search-tool.ts';
import type { SearchSettings } from '../../../agent_rl/tools/search/settings.ts';
import type { ShownSearch } from '../../../dataset/demonstrations/retrieval-demonstrations.ts';
import { splitFiles } from '../../../dataset/tasks/task-files.ts';
import { SearchTaskDataset } from '../../../dataset/tasks/search-task-dataset.ts';

/** Questions of a run and its own search tool. */
export interface OpenQuestions {
  questions: readonly SearchTask[];
  search: ShownSearch;
  close: () => Promise<void>;
}

/** @param which split's questions are read */
export async function openQuestions(
  { chosen, loaded }: PreparedRun,
  which: 'trainSplit' | 'evalSplit',
): Promise<OpenQuestions> {
  const { datasets, dataset } = loaded.config;
  const read = splitFiles(datasets, dataset[which]).map((file) => SearchTaskDataset.fromPath(file));
  const questions = (await Promise.all(read)).flatMap(({ tasks }) => tasks);
  const settings = chosen.tools.find(({ entry }) => entry.spec.name === 'search')?.settings;
  const shared = await openSearch(settings as SearchSettings, { environment: process.env });
  const tool = new SearchTool(shared, settings as SearchSettings);
  const random = new KeyedRng('questions searched for');
  const search: ShownSearch = async (query) => {
    const context = { signal: new AbortController().signal, random, inputs: {} };
    const result = await tool.call({ query }, context);
    return { content: result.content, hits: hitsOf(result) ?? [] };
  };
  return { questions, search, close: () => shared.close() };
}
