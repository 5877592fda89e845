import { describe, expect, test } from '@jest/globals';

import { agentProblems } from '#agent_rl/compose/episode-agents.ts';
import { episodeMaker } from '#agent_rl/compose/episode-maker.ts';
import { runContainer } from '#agent_rl/compose/plugins/container.ts';
import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { attack } from '#agent_rl/jobs/attack/attack.ts';
import { oneAgent } from '#agent_rl/rollout/world.ts';
import { keyOutsideRuns } from '#agent_rl/core/rollout.ts';
import { runEpisode } from '#agent_rl/rollout/run-episode.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { says, ScriptedPolicy } from '#tests/support/scripted-policy.ts';
import { problemPaths } from '#tests/support/problem-places.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const { signal } = new AbortController();
const folder = temporaryFolder();
const row = { task_id: 't', prompt: 'sea', words: ['sea', 'road'], secret: 'sea' };
for (const split of ['train', 'eval'])
  writeBelow(folder, `tasks/${split}.jsonl`, JSON.stringify({ ...row, task_id: split }));

const game = { environment: { type: 'word_game' }, datasets: [{ dir: `${folder}/tasks` }] };
const prepared = (agents: readonly object[] = []) =>
  prepareRun({ file: 'run.yaml', settings: { ...game, ...(agents.length > 0 && { agents }) } });

describe('The agents of an environment', () => {
  test('an agent learns by default', async () => {
    const { chosen } = await prepared([{ name: 'guesser', train: false }]);
    expect(chosen.environments[0]?.agents).toEqual([
      { name: 'speaker', learns: true, policy: 'policy' },
      { name: 'guesser', learns: false, policy: 'policy' },
    ]);
  });

  test('the run file names known agents once, and at least one learns', async () => {
    const wrong = [{ name: 'judge' }, { name: 'speaker', train: false }, { name: 'speaker' }];
    const idle = ['speaker', 'guesser'].map((name) => ({ name, train: false }));
    const problemsOf = async (agents: readonly object[]) =>
      problemPaths((await rejectionOf(prepared(agents))).message);
    expect(await problemsOf(wrong)).toEqual(['agents.0.name', 'agents.2.name']);
    expect(await problemsOf(idle)).toEqual(['agents']);
    const agents = [{ name: 'a', train: true }];
    expect(agentProblems([{ name: 'question', agents: oneAgent }], { agents })).toMatchObject([
      { path: 'agents.0.name' },
    ]);
  });

  test('an episode has the roles of the run file', async () => {
    const { loaded, chosen } = await prepared([{ name: 'speaker', train: false }]);
    const make = episodeMaker({
      config: loaded.config,
      chosen,
      container: runContainer(),
      policy: new ScriptedPolicy(({ key: { agent } }) => ({
        message: says(agent === 'speaker' ? 'water' : 'sea'),
      })),
      toolRunner: new ToolRunner([]),
      toolsShared: new Map(),
      rewardsShared: new Map(),
      sandbox: undefined,
    });
    const { words, secret } = row;
    const task = { taskId: 't', prompt: 'sea', metadata: { words, secret } };
    expect(make.agentsOf?.(task)?.map(({ name }) => name)).toEqual(['speaker', 'guesser']);
    const request = { task, key: keyOutsideRuns(), step: 0, seed: 1, sampling: unbiased };
    const played = await runEpisode(make, request, signal);
    expect(played.parts.map(({ agent, learns, reward }) => [agent, learns, reward])).toEqual([
      ['speaker', false, 1],
      ['guesser', true, 1],
    ]);
    expect(played.judgedBy?.environment).toBe('word_game');
  });

  test('agent-rl plugins attack refuses several agents', async () => {
    const run = await prepared();
    const attacking = attack({ ...run, print: () => undefined, signal });
    const problem = errorOf('CONFIG_INVALID', 'word_game has several agents (speaker, guesser)');
    expect(await rejectionOf(attacking)).toMatchObject(problem);
  });
});
