import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readJson, readLines } from '../support/acme-project.ts';
import { builtProgram, succeeded } from '../support/built-program.ts';
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
  succeeded(builtProgram('agent-rl', args, project));
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
