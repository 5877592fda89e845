import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { evaluateSeveral } from '#agent_rl/jobs/play/evaluate-several.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

/** Prepared as the command does, and asked to compare some models. */
async function refusal(overrides: readonly string[], checkpoints: readonly string[]) {
  const prepared = await prepareRun({
    file: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    overrides,
  });
  const { signal } = new AbortController();
  return rejectionOf(evaluateSeveral({ ...prepared, signal, print: () => undefined, checkpoints }));
}

const starter = join(packageRoot(), 'model', 'starter');

test('models are not compared on replayed tokens, and a model is not compared with itself', async () => {
  const replay = ['generator.type=replay', 'generator.run=runs/recorded'];
  const other = join(starter, '..', 'search-starter');
  expect(await refusal(replay, [starter, other])).toMatchObject(
    errorOf('CONFIG_INVALID', 'gives every model the tokens of the recorded run'),
  );
  // However it is named.
  expect(await refusal([], [starter, join(starter, '..', 'starter')])).toMatchObject(
    errorOf('CONFIG_INVALID', 'are the same model'),
  );
});
