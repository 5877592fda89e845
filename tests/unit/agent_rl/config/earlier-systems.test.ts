import { describe, expect, test } from '@jest/globals';

import { loadConfig } from '#agent_rl/config/index.ts';
import { earlierSystems, sameFlags } from '#agent_rl/config/earlier-systems.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const least = 'environment: {type: code_exec}\ndatasets: [{dir: tasks}]\n';

const problemsOf = (text: string): string => {
  const file = writeBelow(folder, 'run.yaml', least + text);
  return thrownBy(() => loadConfig({ file })).message.replaceAll(`${folder}/`, '');
};

describe('A key of an earlier system', () => {
  test.each([
    ['env: {max_turns: 6, new: 1}', 'env.max_turns of Miniagent: use rollout.maxTurns.'],
    ['train: {lr: 1e-5}', 'train.lr of Miniagent: use train.learningRate.'],
    ['model: {dtype: bfloat16}', 'model.dtype of Multi-turn-RL is not carried over'],
    ['training: {kl_coef: 0.1}', 'training of Multi-turn-RL: use train; training.kl_coef of'],
    ['tools: {search: {api_key_env: KEY}}', 'tools: expected a list, got {"search":'],
    ['tools: {search: {api_key_env: KEY}}', 'tools.search.api_key_env of Miniagent: use web.api'],
  ])('is refused with our name: %s', (text, says) => {
    expect(problemsOf(text)).toContain(says);
  });

  test('is refused as a flag with our name', async () => {
    const { code, stderr } = await commandLine(['train', '--config', 'x', '--num_rollouts', '4']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      '--num_rollouts of OpenReinforcedAgent: use --set rollout.groupSize=N',
    );
  });
});

test('every flag shared with earlier systems exists', async () => {
  const help = async (...words: string[]) => (await commandLine([...words, '--help'])).stdout;
  const ours = (await help('train')) + (await help('merge-lora'));
  const flags = earlierSystems
    .flatMap(({ rows }) => rows.filter(([, here]) => here === sameFlags))
    .flatMap(([theirs]) => theirs.match(/--[\w-]+/g) ?? []);
  expect(flags).toContain('--lora-model');
  expect(flags.filter((flag) => !new RegExp(`${flag}\\b`).test(ours))).toEqual([]);
});
