import { afterEach, describe, expect, test } from '@jest/globals';
import { Value } from 'typebox/value';

import { unbiased } from '#agent_rl/core/services/generator.ts';
import { hitsOf } from '#agent_rl/core/services/search.ts';
import type { SearchTask } from '#agent_rl/core/tasks/search-task.ts';
import { tools } from '#agent_rl/core/plugins/tool.ts';
import { SearchEnv } from '#agent_rl/environments/search/search-env.ts';
import { SearchSettings } from '#agent_rl/environments/search/settings.ts';
import { mrr } from '#agent_rl/rewards/mrr.ts';
import { runEpisode } from '#agent_rl/rollout/run-episode.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { keyOutsideRuns } from '#agent_rl/core/rollout.ts';
import { memberOf } from '#tests/support/rollouts.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { SearchTool } from '#agent_rl/tools/search/search-tool.ts';
import { says, ScriptedPolicy } from '#tests/support/scripted-policy.ts';

/*
 * What a search finds goes from the tool through the rollout to the environment, which writes it down, and to the
 * reward, which ranks it. All three are the real ones.
 */
const task: SearchTask = {
  taskId: 't',
  prompt: 'Who built the Aurel bridge?',
  answer: 'Ina Kost',
  aliases: [],
  documentIds: ['builder'],
  documents: [
    // Shorter and fuller of the word, so that a search for bridges finds it first.
    { id: 'song', title: '', text: 'Bridge, bridge, bridge.' },
    { id: 'builder', title: '', text: 'The Aurel bridge over the river Senn is by Ina Kost.' },
    { id: 'lake', title: '', text: 'The lake freezes every winter.' },
  ],
  metadata: {},
};

const settings = Value.Default(SearchSettings, {}) as SearchSettings;
const searchSettings = { mode: 'task' as const, topK: 3, maxSnippetChars: 200 };
const open: SearchTool[] = [];
afterEach(async () => {
  for (const tool of open.splice(0)) await tool.close();
});

/** Searches for one query after another, then answers. */
async function played(queries: readonly string[], over: 'best' | 'last' = 'best') {
  const tool = new SearchTool({ shared: { close: async () => {} }, settings: searchSettings });
  open.push(tool);
  const spec = tools.specOf(SearchTool);
  if (spec === undefined) throw new Error('SearchTool is no tool.');
  const toolRunner = new ToolRunner([spec]);
  const policy = new ScriptedPolicy(({ key: { turn } }) => {
    const query = queries[turn];
    return { message: query === undefined ? says('Ina Kost.') : says('', ['search', { query }]) };
  });
  const rollout = await runEpisode(
    () => ({
      policy,
      world: worldOfOne(new SearchEnv({ task, settings: { ...settings, match: 'contains' } })),
      tools: new Map([['search', tool]]),
      toolRunner,
      rewards: [{ name: 'mrr', weight: 1, score: (episode) => mrr(episode, { over }) }],
      invalidCallPenalty: 0,
      limits: { maxTurns: 5, maxEpisodeTokens: 500, maxTurnTokens: 50, invalidCallLimit: 3 },
    }),
    { task, key: keyOutsideRuns(), step: 0, seed: 1, sampling: unbiased },
    new AbortController().signal,
  );
  return memberOf(rollout).part;
}

/** What the journal says each search found. */
function found(record: Readonly<Record<string, unknown>> = {}) {
  const history = record['search_history'] as { documentIds: readonly string[] }[];
  return history.map(({ documentIds }) => documentIds);
}

describe('The hits of a search', () => {
  test('reach record and reward in the order in which the policy read them', async () => {
    const { scores, record, success, messages } = await played(['bridge']);
    expect(found(record)).toEqual([['song', 'builder']]);
    expect(scores).toMatchObject({ mrr: 1 / 2 });
    expect(success).toBe(true);
    expect(messages.find(({ role }) => role === 'tool')?.content).toBe(
      '[1]\nBridge, bridge, bridge.\n\n[2]\nThe Aurel bridge over the river Senn is by Ina Kost.',
    );
  });

  test('the list is empty if a query is refused or finds nothing', async () => {
    const queries = ['Aurel', ' ', 'xylophone'];
    const { scores, record } = await played(queries, 'last');
    expect(found(record)).toEqual([['builder'], [], []]);
    // The refused search found no hits at all and the last one found none: only the latter has a rank.
    expect(scores).toMatchObject({ mrr: 0 });
    expect((await played(['Aurel', ' '], 'last')).scores).toMatchObject({ mrr: 1 });
  });
});

test.each<[string, unknown, number | undefined]>([
  ['hits', [{ documentId: 'a', title: '', text: '', score: 1 }], 1],
  ['no hits', [], 0],
  ['a failure', { failure: 'timeout' }, undefined],
  ['nothing', undefined, undefined],
  ['a list of something else', [{ id: 'a' }], undefined],
  ['hits under a name', { hits: [{ documentId: 'a' }] }, undefined],
])('hitsOf reads the hits from the data of a search: %s', (_name, data, count) => {
  expect(hitsOf({ content: '', data })?.length).toBe(count);
});
