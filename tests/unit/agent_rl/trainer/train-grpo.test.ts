import { describe, expect, test } from '@jest/globals';

import { unbiased } from '#agent_rl/core/services/generator.ts';
import { metricDefinition } from '#agent_rl/telemetry/metric-names.ts';
import { builtinSelection } from '#tests/support/algorithm-parts.ts';
import {
  always,
  failing,
  mixed,
  never,
  type Script,
  setUp,
  trained,
} from '#tests/support/grpo-trainer-setup.ts';
import { metricsUnder } from '#tests/support/metrics-under.ts';
import { part, played, rollout } from '#tests/support/rollouts.ts';
import type { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';

describe('trainGrpo', () => {
  test('sends every sampled token with the advantage of its episode and the weight of the step', async () => {
    const { learner } = await trained(mixed);
    const data = learner.batches.slice(0, 1).flat();
    // 2 tasks x 2 episodes x 3 tokens: each weighs 1/12. Rewards 1 and 0 about their mean: ±0.5.
    for (const datum of data) {
      expect([...datum.tokens]).toEqual([1, 2, 10, 11, 12]);
      expect([...datum.weights]).toEqual([0, 0, ...Array<number>(3).fill(Math.fround(1 / 12))]);
      expect([...datum.oldLogProbs]).toEqual([0, 0, -0.5, -0.5, -0.5]);
    }
    expect(data.map(({ advantages }) => Array.from(advantages))).toEqual(
      [0.5, -0.5, 0.5, -0.5].map((advantage) => [0, 0, advantage, advantage, advantage]),
    );
  });

  test('takes one step per iteration and publishes before the first and after each', async () => {
    const { learner, checkpoints, result } = await trained(mixed);
    expect(result).toMatchObject({
      interrupted: false,
      state: { iteration: 2, optimizerSteps: 2, tasks: { draws: 4 } },
    });
    expect([learner.published, checkpoints]).toEqual([3, ['last 2']]);
    expect(learner.batches.map((batch) => batch.length)).toEqual([4, 4]);
    const step = { learningRate: 1, maxGradNorm: Infinity };
    expect(learner.steps).toMatchObject([step, step]);
    const settings = { clipLow: 0.2, clipHigh: 0.3 };
    expect(learner.losses[0]).toMatchObject({ type: 'clipped', settings, temperature: 0.8 });
  });

  test('passes over the same data once per epoch, and compares probabilities only in the first', async () => {
    const { trainer, learner } = setUp(mixed, {
      algorithm: { epochs: 3 },
      train: { iterations: 1, schedule: 'cosine' },
    });
    const step = learner.optimStep.bind(learner);
    learner.optimStep = async (given) => {
      learner.gap = 0.5;
      return step(given);
    };
    await trainer.train(never);
    expect(learner.batches).toHaveLength(3);
    // Half a cosine over 3 steps: (1 + cos 0) / 2, (1 + cos 60°) / 2, (1 + cos 120°) / 2.
    const rates = learner.steps.map(({ learningRate }) => learningRate);
    [1, 0.75, 0.25].forEach((rate, i) => expect(rates[i]).toBeCloseTo(rate, 12));
  });

  test('stops before the step on a gap or NaN between generator and learner, naming the token', async () => {
    const { trainer, learner } = setUp(mixed);
    learner.gap = NaN;
    await expect(trainer.train(never)).rejects.toMatchObject({ code: 'PARITY_BROKEN' });
    learner.gap = 0.01;
    await expect(trainer.train(never)).rejects.toThrow(
      'token 2 (id 10) of rollout train/1/0/0/0 of task t0: -0.5 when sampled',
    );
    expect(learner.steps).toEqual([]);
  });

  test('compares no probabilities with truncated sampling', async () => {
    const sampling = { ...unbiased, topP: 0.9 };
    const { trainer, learner, metrics } = setUp(mixed, { rollout: { sampling } });
    learner.gap = 9;
    await trainer.train(never);
    expect(metrics[0]).not.toHaveProperty('parity/maxAbsLogProbGap');
  });

  test('takes no step if no group teaches anything, and reports it', async () => {
    const { learner, metrics } = await trained(always(1));
    expect([learner.batches, learner.steps, learner.published]).toEqual([[], [], 1]);
    expect(metrics[0]).toMatchObject({
      ...metricsUnder('group', { zeroVariance: 2, allRight: 2 }),
      ...metricsUnder('train', { microBatches: 0, trainedTokens: 0 }),
      ...metricsUnder('ledger', { 'zero-advantage': 12, trained: 0 }),
    });
  });

  test("follows the KL term of flat groups, with the reference's log-probabilities", async () => {
    const { learner } = await trained(always(1), {
      algorithm: { kl: { kind: 'k3', weight: 0.1 } },
    });
    expect(learner.steps).toHaveLength(2);
    expect([...(learner.batches[0]?.[0]?.refLogProbs ?? [])]).toEqual(Array<number>(5).fill(-0.25));
    const asked = { temperature: 0.8, which: 'reference' };
    expect(learner.forwards).toMatchObject([asked, asked]);
    // Only where something is trained: prompts of 2 tokens, then 3 that were sampled.
    const places = learner.forwards[0]?.wanted?.map((of) => Array.from(of, (one) => one !== 0));
    expect(places?.[0]).toEqual([false, false, true, true, true]);
  });

  test('resamples flat groups up to the cap, and keeps and counts what is still flat there', async () => {
    // Task t1 and whatever replaces it is flat until round 2.
    const script: Script = ({ task, key: { sample } }) =>
      played({ reward: ['t1', 'again-0-1-0'].includes(task.taskId) ? 0 : 1 - sample });
    const dynamic = (cap: number) => ({
      algorithm: { selection: builtinSelection('dynamic', { cap }) },
      train: { iterations: 1 },
    });
    const { metrics, rollouts } = await trained(script, dynamic(2));
    expect(rollouts.requests.map(({ task }) => task.taskId)).toEqual(
      ['t0', 't1', 'again-0-1-0', 'again-0-2-0'].flatMap((taskId) => [taskId, taskId]),
    );
    expect(metrics[0]).toMatchObject({
      ...metricsUnder('group', { count: 2, zeroVariance: 0, resampled: 2 }),
      ...metricsUnder('ledger', { resampled: 12, trained: 12 }),
      'rollout/sampledTokens': 24,
    });
    const flat = await trained(always(0), dynamic(1));
    const kept = { 'group/zeroVariance': 2, 'group/allWrong': 2, 'group/resampled': 2 };
    expect(flat.metrics[0]).toMatchObject(kept);
  });

  test('stops with the reason if no episode has a reward', async () => {
    const { error } = await failing(() => played({ outcome: 'grader-error' }));
    expect(error).toMatchObject({
      code: 'ROLLOUTS_FAILED',
      message:
        'All 4 episodes ended without a reward. The first (task t0) ended as grader-error: it broke',
    });
    const unjudged = await failing(() => rollout([{ ...part(), reward: undefined }]));
    expect(String(unjudged.error)).toContain('(task t0) ended as completed: its environment');
  });

  test('drops an interrupted collection, which a resume repeats, and writes a checkpoint', async () => {
    const stop = new AbortController();
    const { trainer, learner, checkpoints } = setUp((request) => {
      if (request.task.taskId === 't3') stop.abort();
      return mixed(request);
    });
    expect(await trainer.train(stop.signal)).toMatchObject({
      interrupted: true,
      state: { iteration: 1, tasks: { draws: 2 } },
    });
    expect([learner.steps.length, checkpoints]).toEqual([1, ['interrupted 1']]);
  });

  test('trains the beginning of the longer run if it ends early', async () => {
    const run = async (train: { iterations: number; plannedIterations?: number }) => {
      const given = { ...train, schedule: 'cosine' as const };
      const changes = { train: given, eval: { every: 2 } };
      const { learner, metrics, checkpoints } = await trained(mixed, changes);
      const evaluated = metrics.slice(0, 2).map((one) => one['eval/successRate']);
      return { steps: learner.steps.slice(0, 2), evaluated, checkpoints };
    };
    const whole = await run({ iterations: 4 });
    const short = await run({ iterations: 2, plannedIterations: 4 });
    expect(short).toEqual({ ...whole, checkpoints: ['last 2'] });
  });

  test('continues from a state as if it had never stopped', async () => {
    const changes = { train: { iterations: 4, schedule: 'cosine' } } as const;
    const whole = await trained(mixed, changes);
    const stop = new AbortController();
    const first = setUp(mixed, changes, {
      iteration: ({ iteration }) => iteration === 2 && stop.abort(),
    });
    const saved = JSON.parse(JSON.stringify((await first.trainer.train(stop.signal)).state));
    const second = setUp(mixed, changes);
    second.trainer.restore(saved);
    const { state } = await second.trainer.train(never);

    const timeless = { collectSeconds: 0, updateSeconds: 0 };
    const totals = { ...whole.state.totals, ...timeless };
    const ended = { ...state, totals: { ...state.totals, ...timeless } };
    expect(ended).toEqual({ ...whole.state, totals });
    const seen = ({ requests }: ScriptedRollouts) =>
      requests.map(({ seed, task, key }) => [seed, task.taskId, key.sample]);
    expect([...seen(first.rollouts), ...seen(second.rollouts)]).toEqual(seen(whole.rollouts));
    expect([...first.learner.steps, ...second.learner.steps]).toEqual(whole.learner.steps);
  });

  test('learns from shuffled rewards in a control', async () => {
    // Without it every group is flat, and nothing is learned.
    const byTask: Script = ({ task }) =>
      played({ reward: Number(task.taskId.slice(1)) % 2, success: true });
    const own: unknown[] = [];
    const run = (control: 'none' | 'shuffled-rewards') =>
      trained(
        byTask,
        { train: { iterations: 20, control } },
        { iteration: ({ learned }) => own.push(...learned.map(({ part: { reward } }) => reward)) },
      );
    const plain = await run('none');
    expect([plain.result.control, plain.learner.steps]).toEqual(['none', []]);
    const control = await run('shuffled-rewards');
    expect(control.result).toMatchObject({ control: 'shuffled-rewards' });
    // Both successes stay together in a third of the iterations: never in all 20.
    expect(control.learner.steps.length).toBeGreaterThan(0);
    // What is recorded of an episode is still its own reward, of two tasks in two samples each.
    expect(own).toEqual(Array.from({ length: 2 * 20 * 4 }, (_, at) => Number(at % 4 > 1)));
  });

  test('only emits defined metric names, and balances its ledger in every iteration', async () => {
    const { metrics } = await trained(mixed, { eval: { every: 1 } });
    for (const values of metrics) {
      const names = Object.keys(values);
      expect(names.filter((name) => metricDefinition(name) === undefined)).toEqual([]);
      expect(Object.values(values).every(Number.isFinite)).toBe(true);
      const booked = Object.entries(values).filter(([name]) => name.startsWith('ledger/'));
      const sum = booked.reduce((all, [, count = NaN]) => all + count, 0);
      expect(sum).toBe(values['rollout/sampledTokens']);
    }
  });
});
