import { cpSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { ownTeacher } from '#scripts/recipes/smollm2/own-teacher.ts';
import { smolLm2Recipe } from '#scripts/recipes/smollm2/recipe.ts';
import { recipeMarkdown } from '#scripts/recipes/smollm2/recipe-markdown.ts';
import { readLines } from '../support/acme-project.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/* The recipe for tools never seen, with a tiny model instead of SmolLM2. */

const out = temporaryFolder();
const recipes = join(packageRoot(), 'configs', 'recipes');
const template = join(recipes, 'smollm2_toolbox.jinja');

const warmUp = `extends: ${join(recipes, 'smollm2_toolbox_sft.yaml')}
policy: { type: minimind }
train: { iterations: 2, batchSize: 4, warmupSteps: 0 }
`;
const smaller =
  'policy.type=minimind policy.maxTurnTokens=8 train.iterations=2 train.warmupSteps=0 rollout.tasksPerStep=2 rollout.groupSize=2 datasets.0.generator.evalTasks=1';

/** What the recipe yields at its end, and what it printed. */
async function run(chatTemplate: string) {
  const printed: string[] = [];
  const results = [];
  const recipe = smolLm2Recipe({
    seeds: [1],
    out,
    python: 'python3',
    chatTemplate,
    config: join(recipes, 'smollm2_toolbox_grpo.yaml'),
    sets: smaller.split(' '),
    sftConfig: writeBelow(out, 'sft.yaml', warmUp),
    teach: ownTeacher,
    signal: new AbortController().signal,
    print: (text) => printed.push(text),
  });
  for await (const result of recipe) results.push(result);
  return { printed, results };
}

test('the recipe for tools never seen does each part once, and refuses another template', async () => {
  await writeSmallModel(join(out, 'model'), { ...smallModelConfig, maxPositions: 2048 });
  cpSync(template, join(out, 'model', 'chat_template.jinja'));

  const first = await run(template);
  const [result] = first.results;
  expect(result!.seeds).toHaveLength(1);
  const report = recipeMarkdown(result!);
  for (const slice of ['new names', 'new operations', 'new shapes', 'more tools'])
    expect(report).toContain(`| ${slice} |`);
  const shown = readLines(out, 'seed-1', 'demonstrations', 'train.jsonl');
  expect(shown).toHaveLength(8);
  expect(shown.every(({ tools }) => (tools as unknown[]).length > 1)).toBe(true);
  expect(readLines(result!.seeds[0]!.grpo.run, 'metrics.jsonl')).toHaveLength(2);

  const again = await run(template);
  expect(again.results).toEqual(first.results);
  expect(again.printed).toEqual([]);

  await expect(run(join(recipes, 'smollm2_tools.jinja'))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('another chat template'),
  });
  await expect(run(join(recipes, 'none.jinja'))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('--chat-template'),
  });
}, 240_000);
