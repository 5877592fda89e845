import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { builtProgram, sets, succeeded } from '../support/built-program.ts';
import { readJson } from '../support/acme-project.ts';
import { episodesIn } from '../support/journal.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/* Command lines of the systems that this project re-implements, word for word. `small` only makes their runs short. */

const project = temporaryFolder();

const sizes = 'rollout.tasksPerStep=2 rollout.groupSize=2 policy.maxTurnTokens=24';
const short = 'train.iterations=1 train.warmupSteps=0 eval.before=false eval.after=false';
const small = sets(...`${sizes} ${short}`.split(' '));

function ran(line: string, ...more: string[]): string {
  const [program = '', ...args] = line.split(' ');
  return succeeded(builtProgram(program, [...args, ...more], project));
}

const recorded = (name: string) => episodesIn(join(project, 'runs', name), 'train');

test('train-code-exec-agent accepts the command line of Miniagent', async () => {
  const said = ran(
    'train-code-exec-agent --config configs/code_exec_grpo.yaml --dataset-dir dataset/code_tasks --model-path model/starter --device cpu --preview-tasks 2 --async-rollout-workers 4',
    ...small,
  );
  expect(said.match(/^Note: /gm)).toBeNull();
  expect(readJson(project, 'runs', 'code_exec_grpo-seed42', 'summary.json')).toMatchObject({
    iterations: 1,
  });
  expect(await recorded('code_exec_grpo-seed42')).toHaveLength(4);
}, 120_000);

test('train-search-agent accepts the command line of Miniagent with a local Hugging Face folder', async () => {
  const folder = join(project, 'folder');
  await writeSmallModel(folder, { ...smallModelConfig, maxPositions: 2048 });
  ran(
    `train-search-agent --config configs/search_qa_grpo.yaml --dataset-dir dataset/search_tasks --policy-type huggingface --hf-model-name ${folder} --async-rollout-workers 2`,
    ...small,
  );
  expect(await recorded('search_qa_grpo-seed42')).toHaveLength(4);
}, 240_000);
