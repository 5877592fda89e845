import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import type { Scoring } from '#agent_rl/compose/episode-maker.ts';
import type { WeightedReward } from '#agent_rl/rollout/combine-rewards.ts';
import { choosePlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { construct, episodeContainer, runContainer } from '#agent_rl/compose/plugins/container.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import type { Environment } from '#agent_rl/core/plugins/environment.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import type { SearchTask } from '#agent_rl/core/tasks/search-task.ts';
import type { Tool } from '#agent_rl/core/plugins/tool.ts';
import { keyOutsideRuns } from '#agent_rl/core/rollout.ts';
import { runEpisode } from '#agent_rl/rollout/run-episode.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { SearchTaskDataset } from '#dataset/tasks/search-task-dataset.ts';
import { readJson, readLines } from '../support/acme-project.ts';
import { builtProgram } from '../support/built-program.ts';
import { memberOf } from '../support/rollouts.ts';
import { says, type Script, ScriptedPolicy } from '../support/scripted-policy.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/*
 * The whole way of system 002's agent: MedQuAD's own files are prepared, indexed, and an agent is trained on them by
 * the shipped config.
 */
const project = temporaryFolder();
const root = packageRoot();
const config = join(root, 'configs', 'medquad_rag_grpo.yaml');
const prepared = join(project, '.cache', 'medquad');
const index = join(project, '.cache', 'medquad-index');
const run = join(project, 'runs', 'medquad');

const program = (...args: string[]): void => {
  const { code, stderr } = builtProgram('agent-rl', args, project);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
};

beforeAll(async () => {
  await writeSmallModel(join(project, 'model'), { ...smallModelConfig, maxPositions: 1024 });
  program('data', 'prepare', join(root, 'tests', 'fixtures', 'medquad'), '--output', prepared);
  program('data', 'index', prepared, '--output', index);
}, 240_000);

describe('Two iterations with a small model', () => {
  beforeAll(() => {
    const sets = 'run.name=medquad train.iterations=2 train.warmupSteps=0 rollout.tasksPerStep=3';
    const smaller =
      'rollout.groupSize=4 policy.maxTurnTokens=16 eval.maxTasks=2 algorithm.microBatchTokens=1024';
    const settings = `${sets} ${smaller}`.split(' ').flatMap((set) => ['--set', set]);
    program('train', '--config', config, '--model', 'model', ...settings);
  }, 240_000);

  test('the run records a curve of each reward', () => {
    const metrics = readLines(run, 'metrics.jsonl');
    expect(metrics.map(({ iteration }) => iteration)).toEqual([1, 2]);
    for (const line of metrics) {
      for (const name of ['search/mrr', 'answer_similarity', 'format']) {
        expect(line[`score/${name}`]).toBeGreaterThanOrEqual(0);
        expect(line[`score/${name}`]).toBeLessThanOrEqual(1);
        expect(line[`scoreApplies/${name}`]).toBe(1);
      }
      expect(line['score/environment']).toBe(0);
    }
  });

  test('the run sums the weighted rewards and only logs the others', () => {
    const episodes = readLines(run, 'trajectories', 'train.jsonl');
    expect(episodes).toHaveLength(2 * 3 * 4);
    for (const { reward, components, scores } of episodes) {
      const { invalidCalls = 0, ...parts } = components as Record<string, number>;
      const sum = Object.values(parts).reduce((total, part) => total + part, 0);
      expect(reward).toBeCloseTo(sum + invalidCalls, 12);
      expect(Object.keys(scores as object).toSorted()).toEqual([
        'answer_similarity',
        'environment',
        'format',
        'search/mrr',
      ]);
      expect(Object.keys(parts)).not.toContain('environment');
    }
  });

  test('the run records the similarity that counts as zero', () => {
    const { rewards } = readJson(run, 'summary.json') as {
      rewards: Readonly<Record<string, Readonly<Record<string, number>>>>;
    };
    const { floor = NaN } = rewards['answer_similarity'] ?? {};
    expect(floor).toBeGreaterThan(0);
    expect(floor).toBeLessThan(0.9);
  });
});

describe('Episodes that search', () => {
  /** What the config's rewards give an episode of the task, played as the script has it. */
  async function scoresOf(task: SearchTask, script: Script) {
    const overrides = [`datasets.0.dir=${prepared}`, `tools.0.corpus.path=${index}`];
    const { tools, rewards, environments } = choosePlugins(
      loadConfig({ file: config, overrides }),
      builtinPlugins(),
    );
    const { tasks } = await SearchTaskDataset.fromPath(join(prepared, 'train.jsonl'));
    const [search] = tools;
    const [environment] = environments;
    if (search === undefined || environment === undefined)
      throw new Error('The config has no tool or no environment.');
    const shared = await search.entry.spec.open?.(search.settings, { environment: {} });
    const own = episodeContainer(runContainer(), { task });
    const made = await Promise.all(
      rewards.map(async ({ name, weight, tool, entry, settings }): Promise<WeightedReward> => {
        const scale = await entry.spec.open?.(settings, { environment: {}, tasks });
        const scorer = construct<Scoring>(own, { entry, settings, shared: scale }, 'score');
        return { name, weight, tool, score: (episode) => scorer.score(episode) };
      }),
    );
    const toolRunner = new ToolRunner([search.entry.spec]);
    const rollout = await runEpisode(
      () => ({
        policy: new ScriptedPolicy(script),
        world: worldOfOne(construct<Environment>(own, environment)),
        tools: new Map([['search', construct<Tool>(own, { ...search, shared })]]),
        toolRunner,
        rewards: made,
        environmentWeight: 0,
        invalidCallPenalty: 0.2,
        limits: {
          maxTurns: 3,
          maxEpisodeTokens: 1000,
          maxTurnTokens: 100,
          invalidCallLimit: 3,
        },
      }),
      { task, key: keyOutsideRuns(), step: 0, seed: 1, sampling: unbiased },
      new AbortController().signal,
    );
    await toolRunner.close();
    await shared?.close();
    return memberOf(rollout).part;
  }

  const firstTask = async (): Promise<SearchTask> => {
    const { tasks } = await SearchTaskDataset.fromPath(join(prepared, 'train.jsonl'));
    return tasks[0] as SearchTask;
  };

  test('an episode earns every reward in full for the right document and the reference answer', async () => {
    const task = await firstTask();
    const { reward, scores } = await scoresOf(task, ({ key }) => ({
      message: {
        ...(key.turn === 0 ? says('', ['search', { query: task.prompt }]) : says(task.answer)),
        reasoning: 'So.',
      },
    }));
    expect(scores).toEqual({
      environment: 1,
      'search/mrr': 1,
      answer_similarity: expect.closeTo(1, 5),
      format: 1,
    });
    expect(reward).toBeCloseTo(3, 5);
  });

  test('an episode earns nothing for a message that is not an answer', async () => {
    const { reward, scores } = await scoresOf(await firstTask(), () => ({
      message: says('Zwölf Boxkämpfer jagen Viktor.'),
    }));
    expect(scores).toEqual({
      environment: 0,
      'search/mrr': 0,
      answer_similarity: 0,
      format: 0,
    });
    expect(reward).toBe(0);
  });
});
