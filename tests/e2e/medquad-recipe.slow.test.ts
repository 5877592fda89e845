import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { SeedOptions } from '#scripts/bench/controls/seed.ts';
import { medQuadFiles } from '#scripts/recipes/medquad/medquad-files.ts';
import { medQuadMarkdown } from '#scripts/recipes/medquad/medquad-markdown.ts';
import { medQuadTeacher } from '#scripts/recipes/medquad/medquad-teacher.ts';
import { documentsOf } from '#scripts/recipes/medquad/questions-of.ts';
import { withoutModel } from '#scripts/recipes/medquad/without-model.ts';
import { evaluations } from '#scripts/recipes/smollm2/evaluations.ts';
import { taughtModel } from '#scripts/recipes/smollm2/taught-model.ts';
import { reinforced } from '#scripts/recipes/smollm2/trained.ts';
import { readJson, readLines } from '../support/acme-project.ts';
import { episodesIn } from '../support/journal.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * The recipe for MedQuAD with a tiny model instead of SmolLM2 and a part of MedQuAD's files: supervised training, two
 * iterations of reinforcement learning, evaluations and the report.
 */
const out = temporaryFolder();
const recipes = join(packageRoot(), 'configs', 'recipes');
const model = join(out, 'model');

/** The warm-up in small. */
const warmUp = `extends: ${join(recipes, 'smollm2_medquad_sft.yaml')}
policy: { type: minimind }
train: { iterations: 2, batchSize: 4, warmupSteps: 0 }
`;

const sizes = 'policy.maxTurnTokens=16 rollout.tasksPerStep=2 rollout.groupSize=3 eval.maxTasks=3';
const smaller = `policy.type=minimind train.iterations=2 train.warmupSteps=0 ${sizes}`.split(' ');

const files = join(packageRoot(), 'tests', 'fixtures', 'medquad');
const { signal } = new AbortController();
let seed: SeedOptions;

beforeAll(async () => {
  await writeSmallModel(model, { ...smallModelConfig, maxPositions: 1024 });
  const { data, index } = await medQuadFiles(files, out, signal);
  seed = {
    seed: 3,
    config: join(recipes, 'smollm2_medquad_grpo.yaml'),
    sftConfig: writeBelow(out, 'sft.yaml', warmUp),
    sets: [`datasets.0.dir=${data}`, `tools.0.corpus.path=${index}`, ...smaller],
    starter: join(out, 'taught'),
    attempts: 1,
    price: 0,
    runs: join(out, 'runs'),
    folder: out,
    signal,
    print: () => {},
  };
}, 240_000);

/** Fails unless a run records each reward, sums the weighted ones and only logs the environment's. */
async function expectSummed(run: string): Promise<void> {
  const lines = readLines(run, 'metrics.jsonl');
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    for (const name of ['search/mrr', 'answer_similarity', 'format']) {
      expect(line[`score/${name}`]).toBeGreaterThanOrEqual(0);
      expect(line[`score/${name}`]).toBeLessThanOrEqual(1);
      expect(line[`scoreApplies/${name}`]).toBe(1);
    }
    expect(line['score/environment']).toBe(0);
  }
  for (const { reward, components } of await episodesIn(run, 'train')) {
    expect(reward).toBeCloseTo(
      Object.values(components).reduce((sum, part) => sum + part, 0),
      12,
    );
    expect(Object.keys(components)).not.toContain('environment');
  }
  // The similarity that counts as zero.
  const { rewards } = readJson(run, 'summary.json');
  const { floor } = (rewards as Record<string, { floor: number }>)['answer_similarity']!;
  expect(floor).toBeGreaterThan(0);
  expect(floor).toBeLessThan(0.9);
}

describe('The recipe for MedQuAD', () => {
  test('runs supervised training, trains with its three rewards, evaluates and reports each reward', async () => {
    const sft = await taughtModel(model, seed, medQuadTeacher);
    const taught = await evaluations(seed, 'taught');
    const grpo = await reinforced(seed);
    const trained = await evaluations(seed, 'trained', { checkpoint: grpo.checkpoint });
    const without = await withoutModel(seed);

    const shown = readLines(out, 'demonstrations', 'train.jsonl');
    expect(shown).toHaveLength(8);
    await expectSummed(grpo.run);
    expect(existsSync(join(out, 'taught', 'model.safetensors'))).toBe(true);

    const mean = (which: keyof typeof without, name: string): number => {
      const counts = without[which].counts ?? [];
      return counts.reduce((sum, { scores }) => sum + (scores?.[name] ?? 0), 0) / counts.length;
    };
    // Each question holds the title of its page, so that a search for it finds the page.
    expect(mean('first', 'search/mrr')).toBeGreaterThan(0.5);
    expect(mean('all', 'answer_similarity')).toBeGreaterThan(mean('question', 'answer_similarity'));
    const one = { seed: 3, sft, grpo, taught, trained, withoutModel: without };
    const markdown = medQuadMarkdown(taught, [one], await documentsOf(seed));
    const header = '|  | questions | search/mrr | answer_similarity | format | calls |';
    expect(markdown.split(header)).toHaveLength(3);
    expect(markdown).toMatch(/\| Without a model: the first passage \| 2 \| [01]\.\d\d/);
    expect(markdown).toMatch(/\| RL minus the first passage \| 2 and 2 \| [+-]?[01]\.\d\d/);
  }, 240_000);
});
