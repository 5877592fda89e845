import type { PreparedRun } from '../../../agent_rl/compose/prepare-run.ts';
import { resolveTasks } from '../../../agent_rl/compose/resolve-tasks.ts';
import { most } from '../../../agent_rl/config/blocks/block.ts';
import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { hitsOf } from '../../../agent_rl/core/services/search.ts';
import type { SearchTask } from '../../../agent_rl/core/tasks/search-task.ts';
import { openSearch } from '../../../agent_rl/tools/search/open-search.ts';
import { SearchTool } from '../../../agent_rl/tools/search/search-tool.ts';
import type { SearchSettings } from '../../../agent_rl/tools/search/settings.ts';
import { prepareOwn, type SeedOptions } from '../../bench/controls/seed.ts';
import type { ShownSearch } from '../../../dataset/demonstrations/retrieval-demonstrations.ts';

/** Questions of a run. */
export interface Questions {
  train: readonly SearchTask[];
  /** Those that an evaluation attempts, in its order. */
  evaluation: readonly SearchTask[];
}

/** The questions of a run of the environment `search`. */
export async function questionsOf(
  { chosen, loaded: { config } }: PreparedRun,
  print: (text: string) => void,
): Promise<Questions> {
  const { trainSplit: train, evalSplit: evaluation } = config.dataset;
  const tasks = await resolveTasks(config, chosen, { train, evaluation, print });
  return {
    train: tasks.train as readonly SearchTask[],
    evaluation: tasks.evaluation as readonly SearchTask[],
  };
}

/** The document that each held-out question is about, of those too that this seed does not draw. */
export async function documentsOf(options: SeedOptions): Promise<ReadonlyMap<string, string>> {
  const prepared = await prepareOwn(options, { 'eval.maxTasks': most.count });
  const { evaluation } = await questionsOf(prepared, () => {});
  return new Map(evaluation.map(({ taskId, documentIds }) => [taskId, documentIds[0] ?? taskId]));
}

/** A run's own search tool. */
export interface OpenedSearch {
  search: ShownSearch;
  close: () => Promise<void>;
}

/** Opens the tool `search` of a run. */
export async function openRunSearch({ chosen }: PreparedRun): Promise<OpenedSearch> {
  const settings = chosen.tools.find(({ entry }) => entry.spec.name === 'search')?.settings;
  const shared = await openSearch(settings as SearchSettings, { environment: process.env });
  const tool = new SearchTool(shared, settings as SearchSettings);
  const random = new KeyedRng('questions searched for');
  const search: ShownSearch = async (query) => {
    const context = { signal: new AbortController().signal, random, inputs: {} };
    const result = await tool.call({ query }, context);
    return { content: result.content, hits: hitsOf(result) ?? [] };
  };
  return { search, close: () => shared.close() };
}
