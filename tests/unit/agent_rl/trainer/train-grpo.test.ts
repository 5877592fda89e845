import { describe, expect, test } from '@jest/globals';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import type { EpisodeRequest } from '#agent_rl/rollout/episode-parts.ts';
import { metricDefinition } from '#agent_rl/telemetry/metric-names.ts';
import type { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';
import { part, played, rollout } from '#tests/support/rollouts.ts';
import {
  options,
  mixed,
  always,
  setUp,
  trained,
  never,
  type Script,
} from '#tests/support/grpo-trainer-setup.ts';
import { builtinSelection } from '#tests/support/algorithm-parts.ts';

describe('trainGrpo', () => {
  test('sends every sampled token with the advantage of its episode and the weight of the step', async () => {
    const { learner } = await trained(mixed);
    const data = learner.batches.slice(0, 1).flat();
    // 2 tasks x 2 episodes x 3 tokens: each weighs 1/12. Rewards 1 and 0 about their mean: ±0.5.
    expect(data).toHaveLength(4);
    for (const datum of data) {
      expect([...datum.tokens]).toEqual([1, 2, 10, 11, 12]);
      expect([...datum.weights]).toEqual([0, 0, ...Array<number>(3).fill(Math.fround(1 / 12))]);
      expect([...datum.oldLogProbs]).toEqual([0, 0, -0.5, -0.5, -0.5]);
    }
    expect(data.map(({ advantages }) => Array.from(advantages))).toEqual([
      [0, 0, 0.5, 0.5, 0.5],
      [0, 0, -0.5, -0.5, -0.5],
      [0, 0, 0.5, 0.5, 0.5],
      [0, 0, -0.5, -0.5, -0.5],
    ]);
  });

  test('takes one step per iteration and publishes before the first and after each', async () => {
    const { learner, checkpoints, result } = await trained(mixed);
    expect(result).toMatchObject({
      interrupted: false,
      state: { iteration: 2, optimizerSteps: 2, tasks: { draws: 4 } },
    });
    expect(learner.published).toBe(3);
    expect(learner.batches.map((batch) => batch.length)).toEqual([4, 4]);
    expect(learner.steps).toHaveLength(2);
    expect(learner.steps[0]).toMatchObject({ learningRate: 1, maxGradNorm: Infinity });
    expect(learner.losses[0]).toMatchObject({
      name: 'policy',
      type: 'clipped',
      settings: { clipLow: 0.2, clipHigh: 0.3 },
      temperature: 0.8,
    });
    expect(checkpoints).toEqual(['last 2']);
  });

  test('passes over the same data once per epoch, and compares probabilities only in the first', async () => {
    const { trainer, learner } = setUp(mixed, {
      algorithm: { ...options.algorithm, epochs: 3 },
      train: { ...options.train, iterations: 1, schedule: 'cosine' },
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
    await expect(trainer.train(never)).rejects.toMatchObject({
      code: 'PARITY_BROKEN',
      message: expect.stringContaining(
        'token 2 (id 10) of rollout train/1/0/0/0 of task t0: -0.5 when sampled',
      ),
    });
    expect(learner.steps).toEqual([]);
  });

  test('logs an allowed gap', async () => {
    const { trainer, learner, metrics } = setUp(mixed, {
      train: { ...options.train, parityBound: { max: 1, mean: 1 } },
    });
    learner.gap = 0.25;
    const { state } = await trainer.train(never);
    expect(metrics[0]).toMatchObject({
      'parity/maxAbsLogProbGap': 0.25,
      'parity/meanAbsLogProbGap': 0.25,
    });
    expect(state.totals).toMatchObject({
      maxAbsLogProbGap: 0.25,
      parityTokens: 24,
      sumAbsLogProbGap: 6,
    });
  });

  test('compares no probabilities with truncated sampling', async () => {
    const { trainer, learner, metrics } = setUp(mixed, {
      rollout: { ...options.rollout, sampling: { ...unbiased, topP: 0.9 } },
    });
    learner.gap = 9;
    await trainer.train(never);
    expect(metrics[0]).not.toHaveProperty('parity/maxAbsLogProbGap');
  });

  test('takes no step if no group teaches anything, and reports it', async () => {
    const { learner, metrics } = await trained(always(1));
    expect([learner.batches, learner.steps, learner.published]).toEqual([[], [], 1]);
    expect(metrics[0]).toMatchObject({
      'group/zeroVariance': 2,
      'group/allRight': 2,
      'train/microBatches': 0,
      'train/trainedTokens': 0,
      'ledger/zero-advantage': 12,
      'ledger/trained': 0,
    });
  });

  test("follows the KL term of flat groups, with the reference's log-probabilities", async () => {
    const { learner } = await trained(always(1), {
      algorithm: { ...options.algorithm, kl: { kind: 'k3', weight: 0.1 } },
    });
    expect(learner.steps).toHaveLength(2);
    expect([...(learner.batches[0]?.[0]?.refLogProbs ?? [])]).toEqual(Array<number>(5).fill(-0.25));
    const asked = { temperature: 0.8, which: 'reference' };
    expect(learner.forwards).toMatchObject([asked, asked]);
    // Only where something is trained: prompts of 2 tokens, then 3 that were sampled.
    const places = learner.forwards[0]?.wanted?.map((of) => Array.from(of, (one) => one !== 0));
    expect(places?.[0]).toEqual([false, false, true, true, true]);
  });

  test('resamples flat groups up to the cap', async () => {
    // Task t1 and whatever replaces it is flat until round 2.
    const script: Script = ({ task, key: { sample } }) =>
      played({ reward: ['t1', 'again-0-1-0'].includes(task.taskId) ? 0 : 1 - sample });
    const { metrics, rollouts } = await trained(script, {
      algorithm: { ...options.algorithm, selection: builtinSelection('dynamic', { cap: 2 }) },
      train: { ...options.train, iterations: 1 },
    });
    expect(rollouts.requests.map(({ task }) => task.taskId)).toEqual([
      't0',
      't0',
      't1',
      't1',
      'again-0-1-0',
      'again-0-1-0',
      'again-0-2-0',
      'again-0-2-0',
    ]);
    expect(metrics[0]).toMatchObject({
      'group/count': 2,
      'group/zeroVariance': 0,
      'group/resampled': 2,
      'ledger/resampled': 12,
      'ledger/trained': 12,
      'rollout/sampledTokens': 24,
    });
  });

  test('keeps and counts groups that are still flat at the cap', async () => {
    const { metrics } = await trained(always(0), {
      algorithm: { ...options.algorithm, selection: builtinSelection('dynamic', { cap: 1 }) },
      train: { ...options.train, iterations: 1 },
    });
    expect(metrics[0]).toMatchObject({
      'group/zeroVariance': 2,
      'group/allWrong': 2,
      'group/resampled': 2,
    });
  });

  test('excludes failed members from group and loss', async () => {
    const script: Script = ({ key: { sample } }) =>
      sample === 2
        ? played({ outcome: 'infrastructure-error' })
        : mixed({ key: { sample } } as EpisodeRequest);
    const { learner, metrics } = await trained(script, {
      rollout: { ...options.rollout, groupSize: 3 },
    });
    expect(
      learner.batches
        .slice(0, 1)
        .flat()
        .map(({ advantages }) => advantages[2]),
    ).toEqual([0.5, -0.5, 0.5, -0.5]);
    expect(metrics[0]).toMatchObject({
      'outcome/infrastructure-error': 2,
      'ledger/infrastructure': 6,
      'ledger/trained': 12,
      'rollout/scored': 4,
      'rollout/successRate': 0.5,
    });
  });

  test('can exclude truncated episodes from the loss but not from the group', async () => {
    const script: Script = ({ key: { sample } }) =>
      played({ reward: 1 - sample, outcome: sample === 1 ? 'truncated-tokens' : 'completed' });
    const { learner, metrics } = await trained(script, {
      rollout: {
        ...options.rollout,
        outcomes: { ...options.rollout.outcomes, 'truncated-tokens': 'mask' },
      },
    });
    expect(learner.batches[0]?.map(({ advantages }) => advantages[2])).toEqual([0.5, 0.5]);
    expect(learner.batches[0]?.[0]?.weights[2]).toBeCloseTo(1 / 6, 6);
    expect(metrics[0]).toMatchObject({ 'ledger/masked': 6, 'ledger/trained': 6 });
  });

  test('stops with the reason if no episode has a reward', async () => {
    const { trainer } = setUp(() => played({ outcome: 'grader-error' }));
    await expect(trainer.train(never)).rejects.toMatchObject({
      code: 'ROLLOUTS_FAILED',
      message:
        'None of 4 episodes has a reward. The first (task t0) ended as grader-error: it broke',
    });
    const unjudged = setUp(() => rollout([{ ...part(), reward: undefined }]));
    await expect(unjudged.trainer.train(never)).rejects.toThrow(
      'The first (task t0) ended as completed: its environment',
    );
  });

  test('writes a checkpoint when a budget is spent, and fails with that error', async () => {
    const spent = new AgentRlError('WEB_BUDGET_SPENT', 'Nothing is left.');
    const { trainer, learner, checkpoints } = setUp((request) => {
      if (request.task.taskId === 't3') throw spent;
      return mixed(request);
    });
    await expect(trainer.train(never)).rejects.toBe(spent);
    expect([learner.steps.length, checkpoints]).toEqual([1, ['failed 1']]);
    expect(trainer.state()).toMatchObject({ iteration: 1, tasks: { draws: 2 } });
  });

  test('drops an interrupted collection, which a resume repeats, and writes a checkpoint', async () => {
    const stop = new AbortController();
    const script: Script = (request) => {
      if (request.task.taskId === 't3') stop.abort();
      return mixed(request);
    };
    const { trainer, learner, checkpoints } = setUp(script);
    const result = await trainer.train(stop.signal);
    expect(result).toMatchObject({
      interrupted: true,
      state: { iteration: 1, tasks: { draws: 2 } },
    });
    expect([learner.steps.length, checkpoints]).toEqual([1, ['interrupted 1']]);
  });

  test('trains the beginning of the longer run if it ends early', async () => {
    const cosine = { ...options.train, schedule: 'cosine' as const };
    const evaluation = { ...options.eval, every: 2 };
    const whole = setUp(mixed, { train: { ...cosine, iterations: 4 }, eval: evaluation });
    await whole.trainer.train(never);
    const train = { ...cosine, iterations: 2, plannedIterations: 4 };
    const short = setUp(mixed, { train, eval: evaluation });
    const result = await short.trainer.train(never);
    expect(result).toMatchObject({ interrupted: false, state: { iteration: 2 } });
    expect(short.checkpoints).toEqual(['last 2']);
    expect(short.learner.steps).toEqual(whole.learner.steps.slice(0, 2));
    expect(short.metrics.map((one) => one['eval/successRate'])).toEqual(
      whole.metrics.slice(0, 2).map((one) => one['eval/successRate']),
    );
  });

  test('continues from a state as if it had never stopped', async () => {
    const whole = setUp(mixed, { train: { ...options.train, iterations: 4, schedule: 'cosine' } });
    const { state } = await whole.trainer.train(never);

    const changes = { train: { ...options.train, iterations: 4, schedule: 'cosine' as const } };
    const stop = new AbortController();
    const first = setUp(mixed, changes, {
      iteration: ({ iteration }) => iteration === 2 && stop.abort(),
    });
    const saved = JSON.parse(JSON.stringify((await first.trainer.train(stop.signal)).state));
    const second = setUp(mixed, changes);
    second.trainer.restore(saved);
    const resumed = await second.trainer.train(never);

    const timeless = (given: typeof state) => ({
      ...given,
      totals: { ...given.totals, collectSeconds: 0, updateSeconds: 0 },
    });
    expect(timeless(resumed.state)).toEqual(timeless(state));
    const seen = ({ requests }: ScriptedRollouts) =>
      requests.map(({ seed, task, key }) => [seed, task.taskId, key.sample]);
    expect([...seen(first.rollouts), ...seen(second.rollouts)]).toEqual(seen(whole.rollouts));
    expect([...first.learner.steps, ...second.learner.steps]).toEqual(whole.learner.steps);
  });

  test('learns from shuffled rewards in a control', async () => {
    // Without it every group is flat, and nothing is learned.
    const byTask: Script = ({ task }) =>
      played({ reward: Number(task.taskId.slice(1)) % 2, success: true });
    const train = { ...options.train, iterations: 20 };
    const plain = setUp(byTask, { train });
    expect(await plain.trainer.train(never)).toMatchObject({ control: 'none' });
    expect(plain.learner.steps).toEqual([]);
    const control = setUp(byTask, { train: { ...train, control: 'shuffled-rewards' } });
    expect(await control.trainer.train(never)).toMatchObject({ control: 'shuffled-rewards' });
    // Both successes stay together in a third of the iterations: never in all 20.
    expect(control.learner.steps.length).toBeGreaterThan(0);
  });

  test('only emits defined metric names', async () => {
    const { metrics } = await trained(mixed, { eval: { ...options.eval, every: 1 } });
    const names = metrics.flatMap((values) => Object.keys(values));
    expect(names.filter((name) => metricDefinition(name) === undefined)).toEqual([]);
    expect(metrics.flatMap((values) => Object.values(values)).every(Number.isFinite)).toBe(true);
  });

  test('balances its ledger in every iteration', async () => {
    const { metrics } = await trained(mixed);
    for (const values of metrics) {
      const booked = Object.entries(values).filter(([name]) => name.startsWith('ledger/'));
      expect(booked.reduce((sum, [, count = NaN]) => sum + count, 0)).toBe(
        values['rollout/sampledTokens'],
      );
    }
  });
});
