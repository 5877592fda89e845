import type { PreparedRun } from '../../agent_rl/compose/prepare-run.ts';
import type { Message } from '../../agent_rl/core/message.ts';
import type { SearchDocument } from '../../agent_rl/core/services/search.ts';
import { formatHits } from '../../agent_rl/tools/search/format-hits.ts';
import { codeDemonstrations } from '../../dataset/demonstrations/demonstrations.ts';
import { mixedDemonstrations } from '../../dataset/demonstrations/mixed-demonstrations.ts';
import { searchDemonstrations } from '../../dataset/demonstrations/search-demonstrations.ts';

/**
 * Conversations of the unreliable teacher of the environment that a warm-up's run file names.
 *
 * @yields Messages of one conversation after another, `count` in all.
 */
export function* teacherConversations(
  { chosen }: Pick<PreparedRun, 'chosen'>,
  seed: number,
  count: number,
  { reliable = false }: { reliable?: boolean } = {},
): Generator<readonly Message[]> {
  const names = chosen.environments.map(({ entry }) => entry.spec.name);
  const searching = () => ({ topK: topKOf(chosen), render, reliable });
  const demonstrations =
    names.length > 1 || names.includes('mixed')
      ? mixedDemonstrations(seed, count, searching())
      : names.includes('search')
        ? searchDemonstrations(seed, count, searching())
        : codeDemonstrations(seed, count);
  for (const { messages } of demonstrations) yield messages;
}

const topKOf = ({ tools }: PreparedRun['chosen']): number =>
  Number(tools.find(({ entry }) => entry.spec.name === 'search')?.settings['topK']);

/** As the `search` tool shows what it found. */
const render = (documents: readonly SearchDocument[]): string =>
  formatHits(
    documents.map(({ id, title, text }) => ({ documentId: id, title, text, score: 0 })),
    false,
  );
