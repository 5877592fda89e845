import { expect, test } from '@jest/globals';

import { mixed, never, options, type Script, setUp } from '#tests/support/grpo-trainer-setup.ts';
import { trajectory } from '#tests/support/trajectories.ts';

test('a run evaluates before, now and then, and after, and keeps the best', async () => {
  let solved = 0;
  const seen: string[] = [];
  const evaluated: string[] = [];
  const script: Script = (request) =>
    request.task.taskId === 'e'
      ? trajectory({ reward: [0, 1, 1, 0][solved++] ?? 0 })
      : mixed(request);
  const { trainer, metrics, checkpoints } = setUp(
    script,
    {
      train: { ...options.train, iterations: 3 },
      eval: { ...options.eval, before: true, after: true, every: 1 },
      checkpoint: { every: 2, keepBest: true },
    },
    {
      onEvaluation: (when, iteration, { successRate }) =>
        seen.push(`${when} ${iteration}: ${successRate}`),
      onEvaluationEpisode: ({ taskId }) => evaluated.push(taskId),
    },
  );
  const result = await trainer.train(never);
  expect(seen).toEqual(['before 0: 0', 'during 1: 1', 'during 2: 1', 'after 3: 0']);
  expect(evaluated).toEqual(['e', 'e', 'e', 'e']);
  expect(checkpoints).toEqual(['best 1', 'periodic 2', 'last 3']);
  expect(metrics[0]).toMatchObject({ 'eval/successRate': 1, 'eval/group/sums': 1 });
  expect(result.before?.successRate).toBe(0);
  expect(result.state.best).toEqual({ iteration: 1, successRate: 1 });
});

test('a run keeps no best unless it is asked to', async () => {
  const { trainer, checkpoints } = setUp(mixed, {
    eval: { ...options.eval, every: 1, after: true },
  });
  const { state } = await trainer.train(never);
  expect([checkpoints, state.best]).toEqual([['last 2'], null]);
});

test('a run takes no half evaluation for a whole one', async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const { trainer, checkpoints } = setUp(
    mixed,
    { eval: { ...options.eval, before: true } },
    { onEvaluationEpisode: () => stop.abort(), onEvaluation: (when) => seen.push(when) },
  );
  const result = await trainer.train(stop.signal);
  expect(result).not.toHaveProperty('before');
  expect(result.state.before).toBeNull();
  expect([seen, checkpoints]).toEqual([[], ['interrupted 0']]);
});

test('a run makes the baseline once: resumed it keeps it, or has none', async () => {
  const evaluation = { eval: { ...options.eval, before: true } };
  const first = setUp(mixed, evaluation);
  const { state, before } = await first.trainer.train(never);
  expect(before?.trajectories).toHaveLength(1);
  const goesOn = (from: typeof state) => {
    const { trainer, rollouts } = setUp(mixed, evaluation);
    trainer.restore(from);
    return trainer.train(never).then((result) => ({ result, rollouts }));
  };
  const kept = await goesOn(state);
  expect(kept.result.before).toEqual({ ...before, trajectories: [] });
  const none = await goesOn({ ...state, before: null });
  expect(none.result).not.toHaveProperty('before');
  expect([...kept.rollouts.requests, ...none.rollouts.requests]).toEqual([]);
});
