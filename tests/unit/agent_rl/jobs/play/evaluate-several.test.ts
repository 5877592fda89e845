import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { evaluateSeveral } from '#agent_rl/jobs/play/evaluate-several.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

/** Prepared as the command does, and asked to compare some models. */
async function refusal(overrides: readonly string[], checkpoints: readonly string[]) {
  const prepared = await prepareRun({
    file: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    overrides,
  });
  const { signal } = new AbortController();
  return rejectionOf(evaluateSeveral({ ...prepared, signal, print: () => undefined, checkpoints }));
}

const [starter, other] = ['starter', 'search-starter'].map((name) =>
  join(packageRoot(), 'model', name),
) as [string, string];

test('models are not compared on replayed tokens', async () => {
  const replay = ['generator.type=replay', 'generator.run=runs/recorded'];
  expect(await refusal(replay, [starter, other])).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('gives every model the tokens of the recorded run'),
  });
});

test('a model is not compared with itself, however it is named', async () => {
  expect(await refusal([], [starter, join(starter, '..', 'starter')])).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('are the same model'),
  });
});
