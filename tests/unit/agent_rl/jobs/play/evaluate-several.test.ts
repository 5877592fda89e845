import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { evaluateSeveral } from '#agent_rl/jobs/play/evaluate-several.ts';
import { type EvaluatedModel, modelsTable } from '#agent_rl/jobs/play/models-table.ts';
import { evaluate } from '#agent_rl/trainer/evaluate.ts';
import { compare } from '#agent_rl/trainer/success-rate.ts';
import { played } from '#tests/support/rollouts.ts';
import { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';
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

const tasks = ['a', 'b', 'c', 'd'].map((taskId) => ({ taskId, prompt: '', metadata: {} }));

/** A model that solves a task in its first attempts. */
async function model(name: string, solved: number, samples: number): Promise<EvaluatedModel> {
  const rollouts = new ScriptedRollouts(({ task, key: { sample } }) =>
    played({ reward: task.taskId !== 'd' && sample < solved ? 1 : 0 }),
  );
  const { rollouts: _, ...evaluation } = await evaluate(rollouts, tasks, {
    samples,
    temperature: 1,
    seed: 1,
    step: 0,
    signal: new AbortController().signal,
  });
  return { name, evaluation, callsMean: 2, sampledTokensMean: 31.25 };
}

const cells = (line = '') => line.trim().split(/ {2,}/);

test('the table has a row for each model with the change from the first, task by task', async () => {
  const [first, second] = [await model('base', 0, 2), await model('trained', 1, 2)];
  const difference = compare(first.evaluation.perTask, second.evaluation.perTask, 1)!;
  const [head, base, trained] = modelsTable([first, { ...second, difference }]).split('\n');
  const columns = 'model|success|pass@2|avg@2|calls|tokens|change, points';
  expect(cells(head).join('|')).toBe(columns);
  expect(cells(base).join('|')).toMatch(/^base\|0 of 8 = 0\.0 % \[0\.0, .*\|-$/);
  // Three of four tasks are solved in one of two attempts.
  const [name, success, pass, avg, calls, tokens, change] = cells(trained);
  expect([name, calls, tokens]).toEqual(['trained', '2.0', '31.3']);
  expect(success).toMatch(/^3 of 8 = 37\.5 % \[/);
  expect(pass).toMatch(/^75\.0 % \[/);
  expect(avg).toMatch(/^37\.5 % \[/);
  expect(change).toMatch(/^\+37\.5 \[\+\d+\.\d, \+50\.0\]$/);
});

test('the table of tasks attempted once has no pass@k', async () => {
  expect(modelsTable([await model('base', 1, 1)])).not.toContain('@');
});
