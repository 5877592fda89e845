import { join, resolve } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { requireTrainablePolicy } from '#agent_rl/compose/resolve-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { resolved } from '#tests/support/resolved.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const plugins = 'environment: {type: code_exec}\ntools: [{type: code_exec}]\n';
const file = writeBelow(folder, 'run.yaml', `${plugins}datasets: [{dir: tasks}]\n`);
const preparedWith = (type: string) => prepareRun({ file, overrides: [`policy.type=${type}`] });

test('a policy with its own generator is refused for training, with its place', async () => {
  const { loaded, chosen } = await preparedWith('transformers-js');
  const error = thrownBy(() => requireTrainablePolicy(loaded, chosen));
  const says = /policy\.type=transformers-js policy\.type: policy transformers-js /;
  expect(error).toMatchObject(errorOf('CONFIG_INVALID', says));
});

test.each(['minimind', 'huggingface'])('the policy %s can be trained', async (type) => {
  const { loaded, chosen } = await preparedWith(type);
  expect(() => requireTrainablePolicy(loaded, chosen)).not.toThrow();
});

test('paths in tool blocks are absolute in the config of a run and in the settings', async () => {
  const run = await resolved(join(packageRoot(), 'configs', 'search_qa_grpo.yaml'), [], {
    tasks: { evaluation: 'eval' },
  });
  const inConfig = run.config.tools[0] as unknown as { corpus: Record<string, string> };
  const used = run.chosen.tools[0]?.settings as typeof inConfig;
  for (const { corpus } of [inConfig, used]) {
    expect(corpus).toMatchObject({
      path: resolve('.cache/search_corpus'),
      documents: join(packageRoot(), 'dataset', 'search_corpus', 'documents.jsonl'),
    });
  }
});

describe('async.lag: 1', () => {
  const lagged = (...overrides: string[]) =>
    resolved(join(packageRoot(), 'configs', 'code_exec_grpo.yaml'), ['async.lag=1', ...overrides], {
      trains: true,
    });

  test('needs a loss that clips, or a correction', async () => {
    const error = await rejectionOf(lagged('algorithm.loss.type=reinforce'));
    expect(error).toMatchObject(errorOf('CONFIG_INVALID', 'neither clips nor corrects'));
    for (const setting of ['algorithm.loss.type=gspo', 'algorithm.loss.type=cispo'])
      await expect(lagged(setting)).resolves.toBeDefined();
    const corrected = ['algorithm.loss.type=reinforce', 'algorithm.correction.type=tis'];
    await expect(lagged(...corrected)).resolves.toBeDefined();
  });

  test('plays on the processor where one process plays and learns', async () => {
    const error = await rejectionOf(lagged('run.device=cuda'));
    expect(error).toMatchObject(errorOf('CONFIG_INVALID', 'run.device is cuda'));
  });
});
