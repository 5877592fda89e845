import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';

const recipes = join(packageRoot(), 'configs', 'recipes');
const configOf = async (file: string) => (await prepareRun({ file, training: true })).loaded.config;

describe('A recipe', () => {
  const files = readdirSync(recipes).filter((name) => name.endsWith('.yaml'));
  test.each(files)('%s is a run file in which every setting acts', async (name) => {
    const { loaded } = await prepareRun({ file: join(recipes, name), training: true });
    expect(loaded.warnings).toEqual([]);
  });

  test('the vLLM recipe equals the search job with another generator', async () => {
    const { generator, run, ...rest } = await configOf(join(recipes, 'search_vllm.yaml'));
    const job = await configOf(join(packageRoot(), 'configs', 'search_qa_grpo.yaml'));
    const { generator: own, run: ownRun, ...same } = job;
    expect(rest).toEqual(same);
    expect(generator).not.toEqual(own);
    expect({ ...run, name: '' }).toEqual({ ...ownRun, name: '' });
  });
});
